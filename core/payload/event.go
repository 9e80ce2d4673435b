package payload

import (
	"strconv"
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// EventType is the media type of a list of events, which is a batch of CloudEvents 1.0.
const EventType = "application/cloudevents-batch+json"

const (
	EventPut    = "edgetable.entity.put"
	EventDelete = "edgetable.entity.delete"
	EventExpire = "edgetable.entity.expire"
	EventDrop   = "edgetable.table.drop"
)

// Events holds the values that all events of one feed share. Its methods append to dst and return the extended slice.
type Events struct {
	Account, Table string // names as spelled in the request URL
	Life           table.Incarnation
}

// Append appends the change with index i of a commit as one JSON event. A commit that drops the table has a single
// event with index 0.
func (e *Events) Append(dst []byte, c *table.FeedCommit, i int) []byte {
	w := object{b: append(dst, '{')}
	w.text("specversion", "1.0")
	if c.Dropped {
		e.context(&w, c, EventDrop, nil)
		w.end('}')
		return w.b
	}
	change := &c.Changes[i]
	e.context(&w, c, [...]string{table.Put: EventPut, table.Delete: EventDelete, table.Expire: EventExpire}[change.Kind], change.Key)
	pk, rk := key.Decode(change.Key)
	var subject []byte
	w.text("subject", string(appendPredicate(subject, pk, rk)))
	if pk != "" { // CloudEvents attributes must not be empty
		w.text("partitionkey", pk)
	}
	if rk != "" {
		w.text("rowkey", rk)
	}
	w.text("batch", strconv.FormatInt(int64(c.Ticks), 10))
	w.number("batchsize", uint64(c.All))
	if change.ExpiredAt != 0 {
		w.text("expired", change.ExpiredAt.String())
	}
	switch row := change.Row; {
	case change.Kind != table.Put:
	case row == nil:
		w.name("superseded")
		w.b = append(w.b, "true"...)
	default:
		w.text("datacontenttype", "application/json")
		w.name("data")
		v := View{Format: Minimal, Account: e.Account, Table: e.Table}
		w.b = v.AppendFeedEntity(w.b, 0, pk, rk, row.Timestamp, row.Properties)
	}
	w.end('}')
	return w.b
}

// context appends the attributes of every event. The id is the same in all deliveries of an event: it depends on the
// incarnation, the Timestamp, the key and the kind of change.
func (e *Events) context(w *object, c *table.FeedCommit, kind string, k []byte) {
	id := make([]byte, 0, 64)
	for _, b := range e.Life {
		id = append(id, hexDigits[b>>4], hexDigits[b&15])
	}
	id = strconv.AppendInt(append(id, '-'), int64(c.Ticks), 10)
	id = strconv.AppendUint(append(id, '-'), hashOf(k), 16)
	w.text("id", string(id)+"-"+kind[strings.LastIndexByte(kind, '.')+1:])
	w.text("source", "/"+e.Account+"/"+e.Table)
	w.text("type", kind)
	w.text("time", c.Ticks.String())
	sequence := strconv.FormatInt(int64(c.Ticks), 10)
	w.text("sequence", "0000000000000000000"[min(len(sequence), 19):]+sequence)
}

func hashOf(k []byte) uint64 {
	hash := uint64(14695981039346656037)
	for _, b := range k {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
}

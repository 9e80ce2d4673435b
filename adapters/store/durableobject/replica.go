package durableobject

import (
	"errors"
	"strconv"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Replica is the address of the publisher, which answers a [Batch] with a [Published]. It is not an object: the
// JavaScript shell passes the calls to the code that writes to the replica.
var Replica = Address{Name: "replica"}

// Batch is a request from an object to the publisher. It publishes changes, adds or removes a lag report, or purges an
// incarnation.
type Batch struct {
	Incarnation table.Incarnation // the incarnation of the rows
	Source      string            // the name of the object in the replica
	// Lagging makes the replica report that it may lack changes from the source, from the time Since on. CaughtUp
	// removes this report.
	Lagging, CaughtUp bool
	Since             edm.Ticks
	// Purge deletes the entities of an incarnation that has ended, and all lag reports of its sources. The names of the
	// sources begin with [SourcesOf].
	Purge   bool
	Changes []table.Change
}

var errBatch = errors.New("durableobject: malformed batch")

// ReadBatch parses a batch. The result shares the memory of b.
func ReadBatch(b []byte) (Batch, error) {
	r := message.Read(b)
	h := r.BatchHead()
	batch := Batch{
		Incarnation: h.Incarnation, Source: h.Source, Since: h.Since, Purge: h.Purge,
		Lagging: h.Mark == message.MarkLagging, CaughtUp: h.Mark == message.MarkForget,
	}
	for r.OK() && !r.Done() {
		c, err := readChange(&r)
		if err != nil {
			return Batch{}, err
		}
		batch.Changes = append(batch.Changes, c)
	}
	if !r.Done() {
		return Batch{}, errBatch
	}
	return batch, nil
}

func readChange(r *message.Reader) (c table.Change, err error) {
	b := r.Change()
	c.Ticks = b.Ticks
	switch {
	case !r.OK():
		return c, errBatch
	case b.Record:
		c.Name = string(b.Key)
	default:
		c.Key = b.Key
	}
	switch {
	case b.Gone:
	case b.Record:
		v := message.Read(b.Value)
		d := v.Document()
		if !v.Done() {
			return c, errBatch
		}
		c.Record = &d
	default:
		row, err := table.ParseRow(b.Key, b.Value)
		if err != nil {
			return c, err
		}
		c.Row = &row
	}
	return c, nil
}

// SourceOf returns the name under which the replica knows the object that stores a key range of a bucket.
func SourceOf(incarnation table.Incarnation, bucket uint16, id uint32) string {
	name := SourcesOf(incarnation) + strconv.Itoa(int(bucket))
	if id != 0 {
		name += "/" + strconv.FormatUint(uint64(id), 10)
	}
	return name
}

// SourcesOf returns the common prefix of the names that SourceOf returns for an incarnation. No other names begin with
// this prefix.
func SourcesOf(incarnation table.Incarnation) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 2*len(incarnation)+1)
	for _, c := range incarnation {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(append(b, '/'))
}

// Published contains the publisher's answer to a [Batch].
type Published struct {
	// Certain means that the changes that are not Done will never be written. If Certain is false, they may still be
	// written.
	Certain bool
	// Failed means that the object must wait before it retries.
	Failed bool
	Marked bool   // whether the lag report was added or removed, as Lagging or CaughtUp requested
	More   bool   // whether the purge is unfinished
	Done   []bool // whether each change is published
}

const (
	flagCertain = 1 << iota
	flagFailed
	flagMarked
	flagMore
)

// Append appends the encoded form of p to dst.
func (p *Published) Append(dst []byte) []byte {
	flags := byte(0)
	for i, set := range [...]bool{p.Certain, p.Failed, p.Marked, p.More} {
		if set {
			flags |= 1 << i
		}
	}
	dst = append(dst, flags)
	for _, done := range p.Done {
		if done {
			dst = append(dst, 1)
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// ReadPublished parses the answer to a batch with the given number of changes.
func ReadPublished(b []byte, changes int) (p Published, ok bool) {
	if len(b) != 1+changes {
		return p, false
	}
	p.Certain, p.Failed = b[0]&flagCertain != 0, b[0]&flagFailed != 0
	p.Marked, p.More = b[0]&flagMarked != 0, b[0]&flagMore != 0
	p.Done = make([]bool, changes)
	for i, done := range b[1:] {
		p.Done[i] = done == 1
	}
	return p, true
}

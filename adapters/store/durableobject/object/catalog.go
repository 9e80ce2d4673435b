package object

import (
	"encoding/binary"
	"errors"
	"strconv"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxList is how many bytes of documents one answer has.
const maxList = 4 << 20

// record is a document as its row holds it.
type record struct {
	table.Record
	home  message.Home // of a table, where its buckets are
	floor edm.Ticks    // of a table, what its Timestamps are above
	// deleting: the table is being deleted, by the write with this id.
	deleting bool
	by       uint64
}

func (r *record) isTable() bool { return r.Key.Table != "" }

// exists reports whether there is a record.
func (r *record) exists() bool { return r.Revision != "" }

const (
	formLive     = 1
	formDeleting = 2
)

func (r *record) append(dst []byte) []byte {
	form := byte(formLive)
	if r.deleting {
		form = formDeleting
	}
	dst = append(dst, form)
	dst = binary.BigEndian.AppendUint64(dst, r.by)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.floor))
	dst = message.AppendHome(dst, r.home)
	return message.AppendDocument(dst, &r.Record)
}

// parseRecord shares the memory of v.
func parseRecord(v []byte) (rec record, ok bool) {
	r := message.Read(v)
	form := r.Byte()
	rec.deleting = form == formDeleting
	rec.by = r.Uint64()
	rec.floor = r.Ticks()
	rec.home = r.Home()
	rec.Record = r.Document()
	return rec, r.Done() && (form == formLive || form == formDeleting)
}

func rowOf(space byte, key string) []byte {
	k := make([]byte, 0, 1+len(key))
	return append(append(k, space), key...)
}

// record reads a document, also one that is being deleted, into memory of its
// own. It has no key if there is none.
func (h *handling) record(key string) (record, error) {
	v, ok := h.rows.Get(rowOf(spaceDocuments, key))
	if !ok {
		return record{}, nil
	}
	rec, ok := parseRecord(append([]byte(nil), v...))
	if !ok || rec.Key.String() != key {
		return record{}, errRecord
	}
	return rec, nil
}

var errRecord = errors.New("a document is damaged, or of a later version")

func (h *handling) putRecord(r *record) {
	v, key := r.append(nil), r.Key.String()
	h.rows.Put(rowOf(spaceDocuments, key), v)
	h.unlooked -= len(key) + len(v)
}

// settled is the document when no deletion of it is under way. If one is, it is
// brought to its end first. Where that takes calls, or fails, the step is to be
// taken instead.
func (h *handling) settled(key string) (rec record, ok bool, instead Step) {
	rec, err := h.record(key)
	if err != nil {
		return rec, false, h.fail(err)
	}
	if rec.deleting {
		if ok, instead = h.bury(&rec, h.resume.State); !ok {
			return rec, false, instead
		}
		rec = record{}
	}
	return rec, true, Step{}
}

func (h *handling) read() Step {
	key := h.r.Text()
	if !h.r.Done() {
		return h.garbled()
	}
	h.joinCatalog(key)
	rec, ok, instead := h.settled(key)
	switch {
	case !ok:
		return instead
	case !rec.exists():
		return h.fail(table.ErrNoRecord)
	}
	return Step{Answer: message.AppendDocument(message.AppendHome(message.Done(h.dst), rec.home), &rec.Record)}
}

func (h *handling) write(_ message.Attempt, v verdict) Step {
	d := h.r.Document()
	home := h.r.Home()
	if !h.r.Done() {
		return h.garbled()
	}
	if v == lost {
		return h.fail(table.ErrUnknown)
	}
	h.load()
	key := d.Key.String()
	h.joinCatalog(key)
	old, ok, instead := h.settled(key)
	if !ok {
		if d.Revision == "" && h.says(instead, message.StatusBusy) {
			return h.fail(table.ErrBeingDeleted)
		}
		return instead
	}
	rec := record{Record: d, home: old.home, floor: old.floor}
	switch {
	case old.Revision != d.Revision:
		return h.fail(table.ErrRevision)
	case h.full():
		return h.fail(&table.Refused{Err: errCatalogFull})
	case old.exists():
		rec.Incarnation = old.Incarnation
	case rec.isTable():
		rec.home, rec.floor = home, readTicks(h.rows, rowFloor)
		if home.Buckets == 0 || home.Buckets > durableobject.MaxBuckets {
			return h.fail(table.ErrUnsupported)
		}
	}
	t := h.clock.next(h.now(), 0, 1)
	rec.Revision = table.Revision(strconv.FormatUint(uint64(t), 36))
	h.putRecord(&rec)
	h.clock.issue(h.rows, t)
	h.changedDocument(key, t)
	return h.doneTicks(t)
}

// list answers documents until one more would not fit, and says whether there
// may be others. A table that is being deleted is none.
func (h *handling) list() Step {
	prefix, from := h.r.Text(), h.r.Text()
	limit := h.r.Size()
	if !h.r.Done() {
		return h.garbled()
	}
	h.joinCatalog(prefix)
	list := message.BeginList(h.dst)
	start := rowOf(spaceDocuments, max(prefix, from))
	end := rowOf(spaceDocuments, prefix+"\xff") // keys are ASCII
	for k, v := range h.rows.Scan(start, end, mostRun) {
		rec, ok := parseRecord(v)
		switch {
		case !ok || string(k[1:]) != rec.Key.String():
			return h.fail(errRecord)
		case rec.deleting:
			continue
		case list.Len() == limit || list.Len() > 0 && list.Size()+len(v) > maxList:
			return Step{Answer: list.End(true)}
		}
		list.Add(&rec.Record)
	}
	return Step{Answer: list.End(false)}
}

func (h *handling) locate() Step {
	key := h.r.Text()
	if !h.r.Done() {
		return h.garbled()
	}
	h.joinCatalog(key)
	rec, err := h.record(key)
	switch {
	case err != nil:
		return h.fail(err)
	case !rec.isTable():
		return h.fail(table.ErrNoTable)
	}
	return Step{Answer: message.AppendLocated(h.dst, &message.Located{
		Incarnation: rec.Incarnation, Home: rec.home, Floor: rec.floor, Deleting: rec.deleting,
	})}
}

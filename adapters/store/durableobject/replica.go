package durableobject

import (
	"errors"
	"strconv"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Replica is no object: who is called by this name publishes what objects have
// changed. The message is a [Batch], the answer a [Published]. Only objects call
// it, whoever carries their calls has to know it.
var Replica = Object{Name: "replica"}

// Batch is what an object wants to be published, in this order: the mark, the
// changes; or that a life of a table is purged.
type Batch struct {
	Life   table.Incarnation // of the rows
	Source string            // who publishes
	// Lagging: that the source has published only what changed before Since is to
	// be seen. Caught: it is to be seen no more.
	Lagging, Caught bool
	Since           edm.Ticks
	// Purge: Life ended. What its sources said is to be forgotten, whose names begin
	// with [SourcesOf] it, and all that was published of it is to be deleted.
	Purge   bool
	Changes []Change
}

// Change is the state that an entity or a document took. If it has neither Row
// nor Document it is gone.
type Change struct {
	Ticks    edm.Ticks // never lower than that of an earlier state
	Key      []byte    // of an entity; nil for a document
	Row      *table.Row
	Name     string // the key of a document
	Document *table.Record
}

var errBatch = errors.New("durableobject: batch not understood")

// ReadBatch reads a batch, which shares the memory of b.
func ReadBatch(b []byte) (Batch, error) {
	r := message.Read(b)
	h := r.BatchHead()
	batch := Batch{
		Life: h.Life, Source: h.Source, Since: h.Since, Purge: h.Purge,
		Lagging: h.Mark == message.MarkLagging, Caught: h.Mark == message.MarkForget,
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

func readChange(r *message.Reader) (c Change, err error) {
	b := r.Change()
	c.Ticks = b.Ticks
	switch {
	case !r.OK():
		return c, errBatch
	case b.Document:
		c.Name = string(b.Key)
	default:
		c.Key = b.Key
	}
	switch {
	case b.Gone:
	case b.Document:
		v := message.Read(b.Value)
		d := v.Document()
		if !v.Done() {
			return c, errBatch
		}
		c.Document = &d
	default:
		row, err := table.ParseRow(b.Key, b.Value)
		if err != nil {
			return c, err
		}
		c.Row = &row
	}
	return c, nil
}

// SourceOf is the name under which a bucket publishes.
func SourceOf(life table.Incarnation, bucket uint16) string {
	return SourcesOf(life) + strconv.Itoa(int(bucket))
}

// SourcesOf is what the names begin with under which the buckets of a life publish,
// and no others.
func SourcesOf(life table.Incarnation) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 2*len(life)+1)
	for _, c := range life {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(append(b, '/'))
}

// Published is what came of a [Batch].
type Published struct {
	// Certain: what is not Done was not written, and will not be. Without it, it
	// may be written still.
	Certain bool
	// Failed: it is not to be tried again at once.
	Failed bool
	Marked bool   // the mark is as wanted
	More   bool   // there is more to purge
	Done   []bool // of each change
}

const (
	flagCertain = 1 << iota
	flagFailed
	flagMarked
	flagMore
)

// Append appends the answer.
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

// ReadPublished reads the answer to a batch of so many changes.
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

package engine

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// continuation says how far a message got before its calls. It travels through the
// shell, as bytes, because another engine may have taken the place of this one when
// the answers arrive. Both run in one isolate, so that it is never read by another
// version.
type continuation struct {
	kind   kind
	engine uint64 // of a write: in which engine it began

	// locates
	generation uint64
	round      byte // earlier rounds, of deletes too

	// deletes
	key         string // of the table
	own         bool   // the message marked the table itself
	incarnation table.Incarnation
	high        edm.Ticks        // high water of the Timestamps of buckets that dropped
	objects     []message.Object // that were called

	// publishes, splits; deletes: how many of all objects have dropped if these do
	batch uint64
	from  []byte // splits: where the next piece begins; recalls: what the catalog said
}

type kind byte

const (
	locates   kind = 1 + iota // a bucket asked the catalog where its table is
	deletes                   // a catalog told buckets to drop
	forgets                   // a catalog told the buckets of a deleted table to forget it
	publishes                 // an outbox handed out a batch
	splits                    // a range told another object about its split
	instructs                 // a bucket asked the catalog what to do in a restore
	recalls                   // and then the platform for an earlier state of itself
)

func (c *continuation) append(dst []byte) []byte {
	dst = append(dst, byte(c.kind), c.round, 0)
	if c.own {
		dst[len(dst)-1] = 1
	}
	for _, n := range [...]uint64{c.engine, c.generation, uint64(c.high), c.batch} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	dst = append(dst, c.incarnation[:]...)
	dst = append(binary.AppendUvarint(dst, uint64(len(c.key))), c.key...)
	return message.AppendObjects(message.AppendBytes(dst, c.from), c.objects)
}

// parseContinuation returns a zero continuation if b is malformed: the message then
// starts again. It shares the memory of b.
func parseContinuation(b []byte) (c continuation) {
	r := message.Read(b)
	c.kind, c.round, c.own = kind(r.Byte()), r.Byte(), r.Bool()
	c.engine, c.generation, c.high, c.batch = r.Uint64(), r.Uint64(), r.Ticks(), r.Uint64()
	c.incarnation = r.Incarnation()
	c.key = r.Text()
	c.from = r.Bytes()
	c.objects = r.Objects()
	if !r.Done() || c.kind < locates || c.kind > recalls {
		return continuation{}
	}
	return c
}

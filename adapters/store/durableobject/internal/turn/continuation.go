package turn

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Continuation says how far a message got before its calls. It travels through the
// shell, as bytes, because another engine may have taken the place of this one when
// the answers arrive. Both run in one isolate, so that it is never read by another
// version.
type Continuation struct {
	Kind   Kind
	Engine uint64 // of a write: in which engine it began

	// locates
	Generation uint64
	Round      byte // earlier rounds, of deletes too

	// deletes
	Key         string // of the table
	Own         bool   // the message marked the table itself; declares: not all is removed
	Incarnation table.Incarnation
	High        edm.Ticks        // high water of the Timestamps of buckets that dropped; declares: of the record
	Objects     []message.Object // that were called

	// publishes, splits; deletes: how many of all objects have dropped if these do; declares: up to
	// which all know
	Batch uint64
	From  []byte // splits: where the next piece begins; recalls: what the catalog said
}

// Kind is what a message waits for.
type Kind byte

// The calls of a message.
const (
	Locates   Kind = 1 + iota // a bucket asked the catalog where its table is
	Deletes                   // a catalog told buckets to drop
	Forgets                   // a catalog told the buckets of a deleted table to forget it
	Publishes                 // an outbox handed out a batch
	Splits                    // a range told another object about its split
	Instructs                 // a bucket asked the catalog what to do in a restore
	Recalls                   // and then the platform for an earlier state of itself
	Declares                  // a catalog told objects to ask what their table declares
	Ends                      // a catalog asked objects where a feed ends
)

func (c *Continuation) Append(dst []byte) []byte {
	dst = append(dst, byte(c.Kind), c.Round, 0)
	if c.Own {
		dst[len(dst)-1] = 1
	}
	for _, n := range [...]uint64{c.Engine, c.Generation, uint64(c.High), c.Batch} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	dst = append(dst, c.Incarnation[:]...)
	dst = append(binary.AppendUvarint(dst, uint64(len(c.Key))), c.Key...)
	return message.AppendObjects(message.AppendBytes(dst, c.From), c.Objects)
}

// ParseContinuation returns a zero continuation if b is malformed: the message then
// starts again. It shares the memory of b.
func ParseContinuation(b []byte) (c Continuation) {
	r := message.Read(b)
	c.Kind, c.Round, c.Own = Kind(r.Byte()), r.Byte(), r.Bool()
	c.Engine, c.Generation, c.High, c.Batch = r.Uint64(), r.Uint64(), r.Ticks(), r.Uint64()
	c.Incarnation = r.Incarnation()
	c.Key = r.Text()
	c.From = r.Bytes()
	c.Objects = r.Objects()
	if !r.Done() || c.Kind < Locates || c.Kind > Ends {
		return Continuation{}
	}
	return c
}

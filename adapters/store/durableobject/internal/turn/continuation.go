package turn

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Continuation is the progress of a message before its calls. It is encoded, because another engine may handle the
// answers. That engine always has the same version of the code.
type Continuation struct {
	Kind   Kind
	Engine uint64 // for a write, the number of the engine that began the write

	// For Locates:
	Generation uint64
	Round      byte // the number of earlier attempts; also set for other kinds

	// For Deletes and Declares:
	Key         string // the key of the table
	Own         bool   // for Deletes, whether this message began the deletion; for Declares, whether entities remain that expired under a withdrawn rule
	Incarnation table.Incarnation
	High        edm.Ticks        // for Deletes, the highest Timestamp of the buckets that dropped the table; for Declares, the revision of the record
	Objects     []message.Object // the objects that were called

	// Batch is,
	// - for Publishes and Splits, the random number of a call;
	// - for Deletes, the number of objects that have dropped the table after the calls;
	// - for Declares, a number: all objects below it have read the declared options after the calls.
	Batch uint64
	From  []byte // for Splits, the row at which the next chunk of entities begins; for Recalls, the catalog's instructions for a restore
}

// Kind says which answers a message waits for.
type Kind byte

// The values of Kind.
const (
	Locates   Kind = 1 + iota // a bucket asked the catalog where its table is
	Deletes                   // a catalog told buckets to drop a table
	Forgets                   // a catalog told the buckets of a deleted table to forget it
	Publishes                 // an outbox sent a batch
	Splits                    // a range made a call to another object about its split
	Instructs                 // a bucket asked the catalog what to do in a restore
	Recalls                   // a bucket asked the platform for an earlier state of itself
	Declares                  // a catalog told objects to read the declared options of their table
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

// ParseContinuation parses a continuation, which shares the memory of b. If b is malformed, it returns the zero value,
// and the message starts again.
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

// Package restoring is what the catalog, the objects and a Worker know of a restore of a
// table: how far it is, which object has which part in it, and which had which keys before.
package restoring

import (
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Phase is how far a restore of a table is: see docs/adr/0039.
type Phase byte

const (
	Freezing  Phase = 1 + iota // all objects stop serving, and find their states
	Returning                  // those that had keys at the time go back, and stay frozen
	Settling                   // they serve as the next incarnation; the others drop
	Telling                    // the replica learns that it lacks the table
	Finished                   // kept so that it can be undone
	Undoing                    // objects that went back return to where they were
	Cancelled                  // all serve again as before
)

// Restore is a restore of a table. The catalog keeps it; objects ask for their part of it.
type Restore struct {
	ID    uint64 // random; 0: there is none
	Phase Phase
	Undo  bool      // it undoes the one before
	To    edm.Ticks // the time
	Began edm.Ticks
	Until edm.Ticks         // when Freezing ends without a further message, and Telling ends
	Was   table.Incarnation // of the table when it began
	Then  table.Incarnation // of the table at the time
	Next  table.Incarnation // that it gets
	High  edm.Ticks         // no object issued a higher Timestamp before
	Why   string            // it is undone

	Objects []Returned
	// Traits are what the table declares, in what the catalog tells an object.
	Traits *table.Traits
}

// Returned is an object in a restore.
type Returned struct {
	message.Object
	Back   bool      // it had keys at the time, and goes back; else it drops
	Bounds key.Range // of these keys
	Done   bool      // in this phase
	State  []byte    // what the platform calls its state at the time
	Before []byte    // and its state when it was frozen
}

// Append appends the restore, for a message or a row.
func (r *Restore) Append(dst []byte) []byte {
	dst = append(binary.BigEndian.AppendUint64(dst, r.ID), byte(r.Phase), bit(r.Undo))
	for _, at := range [...]edm.Ticks{r.To, r.Began, r.Until, r.High} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	}
	dst = append(append(append(dst, r.Was[:]...), r.Then[:]...), r.Next[:]...)
	dst = binary.BigEndian.AppendUint32(message.AppendText(dst, r.Why), uint32(len(r.Objects)))
	for i := range r.Objects {
		o := &r.Objects[i]
		dst = message.AppendObjects(append(dst, bit(o.Back), bit(o.Done)), []message.Object{o.Object})
		dst = message.AppendBounds(dst, o.Bounds)
		dst = message.AppendBytes(message.AppendBytes(dst, o.State), o.Before)
	}
	if r.Traits != nil { // earlier code does not understand it
		dst = message.AppendTraits(dst, r.Traits)
	}
	return dst
}

func bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// Read reads a restore, which shares the memory of the fields. ok is false if there are
// others.
func Read(r message.Reader) (s *Restore, ok bool) {
	s = &Restore{ID: r.Uint64(), Phase: Phase(r.Byte()), Undo: r.Bool()}
	s.To, s.Began, s.Until, s.High = r.Ticks(), r.Ticks(), r.Ticks(), r.Ticks()
	s.Was, s.Then, s.Next = r.Incarnation(), r.Incarnation(), r.Incarnation()
	s.Why = r.Text()
	for n := r.Uint32(); n > 0 && r.OK(); n-- {
		o := Returned{Back: r.Bool(), Done: r.Bool()}
		if one := r.Objects(); len(one) == 1 {
			o.Object = one[0]
		}
		o.Bounds, o.State, o.Before = r.Bounds(), r.Bytes(), r.Bytes()
		s.Objects = append(s.Objects, o)
	}
	if r.OK() && !r.Done() {
		s.Traits = r.Traits()
	}
	return s, r.Done()
}

// Tell appends the message OpRestoring.
func Tell(dst []byte, key string, r *Restore) []byte {
	return r.Append(message.Key(dst, message.OpRestoring, key))
}

// Part is what the object needs of a restore: one without an ID if it has no part in it.
func (r *Restore) Part(o message.Object) *Restore {
	i := r.index(o)
	if i < 0 || r.Phase == Telling {
		return &Restore{}
	}
	part := *r
	part.Objects = r.Objects[i : i+1]
	return &part
}

func (r *Restore) index(o message.Object) int {
	return slices.IndexFunc(r.Objects, func(r Returned) bool { return r.Object == o })
}

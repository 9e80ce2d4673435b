// Package restoring contains the state of a table's restore: its phase, the part of each object, and the keys that the
// objects had earlier.
package restoring

import (
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Phase is the phase of a restore: see docs/adr/0039.
type Phase byte

const (
	Freezing  Phase = 1 + iota // all objects stop serving, and find their earlier states
	Returning                  // objects that had keys at the requested time go back to their state at that time, and remain frozen
	Settling                   // objects that returned to their earlier state serve it as the next incarnation; the other objects drop their entities
	Telling                    // the catalog waits until no reader finds the table in the replica
	Finished                   // the restore is retained so that it can be undone
	Undoing                    // objects that went back return to their latest state
	Cancelled                  // all objects serve as before the restore
)

// Restore is the state of a restore. The catalog stores it, and each object asks for its part.
type Restore struct {
	ID              uint64 // random number of the restore; 0 if there is no restore
	Phase           Phase
	Undo            bool      // whether this restore undoes the previous one
	To              edm.Ticks // the time to which the entities return
	StartedAt       edm.Ticks
	Deadline        edm.Ticks         // when the phase Freezing or Telling ends, or when the restore ended; each message extends Freezing
	OldIncarnation  table.Incarnation // incarnation of the table when the restore began
	IncarnationAtTo table.Incarnation // incarnation of the table at the time To
	NewIncarnation  table.Incarnation // incarnation of the table after the restore
	High            edm.Ticks         // upper limit of Timestamps: no object had issued a higher Timestamp before the restore
	Reason          string            // the reason to undo the restore; "" if there is none

	Objects []Returned
	// Traits are the declared options of the table. They are set only in the catalog's answers to an object.
	Traits *table.Traits
}

// Returned describes one object in a restore.
type Returned struct {
	message.Object
	Returns     bool      // whether the object had keys at the requested time and returns to that time; if not, it drops its entities
	Bounds      key.Range // the bounds of the keys that the object had at the requested time
	Done        bool      // whether the object has finished the current phase
	State       []byte    // the platform's bookmark of the object's state at the requested time
	FrozenState []byte    // the platform's bookmark of the object's state when the restore froze the object
}

// Append appends the encoded restore, as in a message or a row.
func (r *Restore) Append(dst []byte) []byte {
	dst = append(binary.BigEndian.AppendUint64(dst, r.ID), byte(r.Phase), bit(r.Undo))
	for _, at := range [...]edm.Ticks{r.To, r.StartedAt, r.Deadline, r.High} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	}
	dst = append(append(append(dst, r.OldIncarnation[:]...), r.IncarnationAtTo[:]...), r.NewIncarnation[:]...)
	dst = binary.BigEndian.AppendUint32(message.AppendText(dst, r.Reason), uint32(len(r.Objects)))
	for i := range r.Objects {
		o := &r.Objects[i]
		dst = message.AppendObjects(append(dst, bit(o.Returns), bit(o.Done)), []message.Object{o.Object})
		dst = message.AppendBounds(dst, o.Bounds)
		dst = message.AppendBytes(message.AppendBytes(dst, o.State), o.FrozenState)
	}
	if r.Traits != nil { // an earlier version of the code cannot parse a restore with Traits
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

// Read parses a restore. The result shares the memory of the fields. ok is false if the bytes are malformed or were
// written by a later version.
func Read(r message.Reader) (s *Restore, ok bool) {
	s = &Restore{ID: r.Uint64(), Phase: Phase(r.Byte()), Undo: r.Bool()}
	s.To, s.StartedAt, s.Deadline, s.High = r.Ticks(), r.Ticks(), r.Ticks(), r.Ticks()
	s.OldIncarnation, s.IncarnationAtTo, s.NewIncarnation = r.Incarnation(), r.Incarnation(), r.Incarnation()
	s.Reason = r.Text()
	for n := r.Uint32(); n > 0 && r.OK(); n-- {
		o := Returned{Returns: r.Bool(), Done: r.Bool()}
		if one := r.Objects(); len(one) == 1 {
			o.Object = one[0]
		}
		o.Bounds, o.State, o.FrozenState = r.Bounds(), r.Bytes(), r.Bytes()
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

// Part returns the part of a restore that the object o needs. The ID of the result is 0 if o has no part in the
// restore.
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

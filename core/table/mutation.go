package table

import "edgetable/core/edm"

// Kind says what a [Mutation] does if its condition holds.
type Kind uint8

const (
	// Put replaces all properties of the entity by the mutation's.
	Put Kind = iota
	// Merge sets the mutation's properties and keeps the other properties of the entity. If
	// the entity does not exist, Merge acts as Put.
	Merge
	// Delete removes the entity.
	Delete
	// Expire removes an entity that has ended by the [Traits] of its table. Its condition is
	// Unchanged. It is refused with [ErrChanged] while the entity has not ended or the rule
	// can still be withdrawn. Only stores that keep traits accept it.
	Expire
)

// Condition says what a [Mutation] demands of the stored entity.
type Condition uint8

const (
	// Always demands nothing.
	Always Condition = iota
	// Absent demands that the entity does not exist.
	Absent
	// Present demands that the entity exists.
	Present
	// Unchanged demands that the entity has the Timestamp Mutation.IfMatch.
	Unchanged
)

// Removes reports whether the mutation only removes data, so that a full store can apply it.
func (k Kind) Removes() bool { return k == Delete || k == Expire }

// Mutation is one declarative write. An insert is a Put with Absent, an update is a Put with
// Present or Unchanged, and an insert-or-merge is a Merge with Always. A Delete has Present
// or Unchanged.
type Mutation struct {
	Key        []byte // encoded key
	Kind       Kind
	Condition  Condition
	IfMatch    edm.Ticks
	Properties edm.Properties
	// Nonce is stored with the entity. If a reply is lost, the writer recognizes its own
	// write by the nonce.
	Nonce uint64
	// Room is memory in which Apply may build the properties of the new row. It may be nil.
	Room []byte
}

// Apply applies a mutation to an entity: old is the stored row, or nil if the entity
// does not exist; now is the Timestamp of the new row. It returns the new row, nil if
// the mutation deletes the entity, or the reason why the mutation is refused. Every
// store that reads before it writes calls Apply, which also checks the limits that
// depend on the old state (252 properties, 1 MiB).
//
// The new row shares memory with its arguments.
func Apply(old *Row, m Mutation, now edm.Ticks) (*Row, error) {
	switch m.Condition {
	case Absent:
		if old != nil {
			return nil, ErrExists
		}
	case Present:
		if old == nil {
			return nil, ErrNoEntity
		}
	case Unchanged:
		if old == nil {
			return nil, ErrNoEntity
		}
		if old.Timestamp != m.IfMatch {
			return nil, ErrChanged
		}
	}
	switch m.Kind {
	case Delete:
		return nil, nil
	case Expire:
		return nil, ErrChanged
	}
	row := &Row{Key: m.Key, Timestamp: now, Nonce: m.Nonce, Properties: m.Properties}
	if m.Kind == Merge && old != nil {
		row.Properties = old.Properties.MergeIn(m.Room, m.Properties)
		if err := checkSize(row.Key, row.Properties); err != nil {
			return nil, err
		}
	}
	return row, nil
}

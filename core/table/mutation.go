package table

import "edgetable/core/edm"

// Kind is what a [Mutation] does when its condition holds.
type Kind uint8

const (
	// Put makes the entity exactly the mutation's properties.
	Put Kind = iota
	// Merge lays the mutation's properties over those of the entity; where
	// there is no entity it is a Put.
	Merge
	// Delete removes the entity.
	Delete
)

// Condition is what a [Mutation] demands of the entity it finds.
type Condition uint8

const (
	// Always holds.
	Always Condition = iota
	// Absent demands that there is no entity.
	Absent
	// Present demands that there is one.
	Present
	// Unchanged demands that there is one with the Timestamp Mutation.IfMatch.
	Unchanged
)

// Mutation is one declarative write. An insert is a Put if Absent, an update a
// Put if Present or Unchanged, an insert-or-merge a Merge that holds Always.
// A Delete is always Present or Unchanged.
type Mutation struct {
	Key        []byte // encoded key
	Kind       Kind
	Condition  Condition
	IfMatch    edm.Ticks
	Properties edm.Properties
	// Nonce is stored with the entity. It tells a writer whose reply was lost
	// whether what it finds is its own work.
	Nonce uint64
}

// Apply is what a mutation makes of an entity: old is the stored row, or nil if
// there is none; now is the Timestamp of the new one. It returns the new row,
// nil if the entity is gone, or the reason why the mutation is refused. Every
// store that reads before it writes calls it, and the limits of an entity that
// depend on its old state (252 properties, 1 MiB) are judged here.
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
	if m.Kind == Delete {
		return nil, nil
	}
	row := &Row{Key: m.Key, Timestamp: now, Nonce: m.Nonce, Properties: m.Properties}
	if m.Kind == Merge && old != nil {
		row.Properties = old.Properties.Merge(m.Properties)
		if err := checkSize(row.Key, row.Properties); err != nil {
			return nil, err
		}
	}
	return row, nil
}

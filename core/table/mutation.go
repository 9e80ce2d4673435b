package table

import "edgetable/core/edm"

// Kind is the kind of change that a [Mutation] makes if its condition is met.
type Kind uint8

const (
	// Put replaces all properties of the entity.
	Put Kind = iota
	// Merge sets the properties in the mutation and leaves all others unchanged. If the entity does not exist, Merge is
	// like Put.
	Merge
	// Delete removes the entity.
	Delete
	// Expire removes an entity that has expired under a rule in its table's [Traits]. The condition must be Unchanged.
	// The error is [ErrChanged] if the entity has not expired, or could reappear when the rule is withdrawn.
	Expire
)

// Condition is what a [Mutation] requires of the stored entity.
type Condition uint8

const (
	// Always requires nothing.
	Always Condition = iota
	// Absent requires that the entity does not exist.
	Absent
	// Present requires that the entity exists.
	Present
	// Unchanged requires that the entity has the Timestamp in Mutation.IfMatch.
	Unchanged
)

// Removes reports whether mutations of this kind only remove data. Even a full store can apply them.
func (k Kind) Removes() bool { return k == Delete || k == Expire }

// Mutation is one conditional write of an entity. An insert is a Put with Absent, an update a Put with Present or
// Unchanged, an insert-or-merge a Merge with Always. A Delete requires Present or Unchanged.
type Mutation struct {
	Key        []byte // encoded key
	Kind       Kind
	Condition  Condition
	IfMatch    edm.Ticks
	Properties edm.Properties
	// Nonce is stored with the entity. If the reply to the write is lost, the writer recognizes its write by the nonce.
	Nonce uint64
	// Room is an optional buffer in which Apply may build the properties of the new row.
	Room []byte
}

// Apply applies a mutation to the stored row old, which is nil if the entity does not exist. It returns the new row,
// which has the Timestamp now, or nil if the mutation deletes the entity. The new row shares memory with the arguments.
//
// Every store that reads before it writes must call Apply, which also checks the limits of the new entity.
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

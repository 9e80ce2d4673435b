package table

// These methods are for stores that keep traits separately from the record, not in the
// form of [AppendRecord].

// Encode returns the stored form of traits. t must not be nil.
func (t *Traits) Encode() []byte { return t.append(nil) }

// ParseTraits is the inverse of Encode. If the traits have a part that this version
// does not know, it fails with [ErrNewerForm].
func ParseTraits(b []byte) (*Traits, error) { return parseTraits(b) }

// Equal reports whether t and u declare the same.
func (t *Traits) Equal(u *Traits) bool { return t.equal(u) }

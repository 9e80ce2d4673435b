package table

// The functions in this file are for stores that hold traits separately from the record. Other stores use
// [AppendRecord].

// Encode returns the encoded traits. t must not be nil.
func (t *Traits) Encode() []byte { return t.append(nil) }

// ParseTraits is the inverse of Encode. It fails with [ErrNewerForm] if it does not know a part.
func ParseTraits(b []byte) (*Traits, error) { return parseTraits(b) }

// Equal reports whether t and u declare the same options.
func (t *Traits) Equal(u *Traits) bool { return t.equal(u) }

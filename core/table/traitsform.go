package table

// For stores that keep traits beside a record, not in the form of [AppendRecord].

// Encode returns the stored form of traits that are not nil.
func (t *Traits) Encode() []byte { return t.append(nil) }

// ParseTraits is the inverse of Encode. It refuses what this version does not know with
// [ErrNewerForm].
func ParseTraits(b []byte) (*Traits, error) { return parseTraits(b) }

// Equal reports whether both declare the same.
func (t *Traits) Equal(u *Traits) bool { return t.equal(u) }

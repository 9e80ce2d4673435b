package table

// These methods are for stores that keep traits (declared options) separately from the
// record. Other stores use [AppendRecord].

// Encode returns the stored form of the traits (declared options). t must not be nil.
func (t *Traits) Encode() []byte { return t.append(nil) }

// ParseTraits is the inverse of Encode. If a part is unknown to this version, the
// error is [ErrNewerForm].
func ParseTraits(b []byte) (*Traits, error) { return parseTraits(b) }

// Equal reports whether t and u declare the same options.
func (t *Traits) Equal(u *Traits) bool { return t.equal(u) }

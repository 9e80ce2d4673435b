package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// Traits are the declared options of a table that its store must follow: a rule of expiry, and whether
// the table has a change feed. A store keeps them in the table's record, together with the incarnation.
// Nil Traits declare no option. Traits are immutable: a new declaration makes a new value.
type Traits struct {
	Expiry *Expiry // the rule in force, or nil
	// Ending is a withdrawn rule, or nil. The field Until of the rule is set. The rule is kept while
	// entities that expired by this rule are still stored.
	Ending *Expiry
	// Feed is set if the table has a change feed, see [Feeding].
	Feed *Feed
}

// Expiry is a rule that determines when entities end, that is, expire. Every read and write treats an
// expired entity as absent, even while the entity is still stored.
type Expiry struct {
	// Property is the name of a property, or "". If an entity has this property with a DateTime, the
	// entity expires at that instant.
	Property string
	// After is a maximum age, counted from the Timestamp of an entity; 0 means none. An entity of this
	// age expires, unless the entity has a DateTime in the property that the field Property names.
	After edm.Ticks
	// Since is the instant at which the rule was declared. The store removes no entity before Since +
	// UndoTime.
	Since edm.Ticks
	// Until is the instant at which the rule was withdrawn, or 0. A withdrawn rule applies only to
	// entities that were written before Until and had expired by then.
	Until edm.Ticks
}

// Feed is the part of [Traits] that makes a store keep the changes of a table.
type Feed struct {
	// Keep is how long a change can be read at least, if there is enough space.
	Keep edm.Ticks
}

// UndoTime is how long a new rule of expiry hides expired entities without removing any. If the rule is
// withdrawn in this time, all entities become visible again.
const UndoTime = 3600 * edm.TicksPerSecond

// Ends returns the instant at which an entity with this Timestamp and these properties expires. This
// method defines the rule; a store that computes the instant in another way, such as in an index, must
// get the same result.
func (e *Expiry) Ends(written edm.Ticks, p edm.Properties) (at edm.Ticks, ends bool) {
	if e.Property != "" {
		if v, ok := p.Lookup(e.Property); ok && v.Type() == edm.TypeDateTime {
			return v.Ticks(), true
		}
	}
	return written + e.After, e.After != 0
}

// hasExpired reports whether an entity has expired at an instant. If the instant is before the entity's
// Timestamp, because the reader's clock is slow, the Timestamp is used in its place.
func (e *Expiry) hasExpired(row *Row, now edm.Ticks) bool {
	if e == nil {
		return false
	}
	if e.Until != 0 {
		if row.Timestamp > e.Until {
			return false
		}
		now = e.Until
	}
	at, ends := e.Ends(row.Timestamp, row.Properties)
	return ends && at <= max(now, row.Timestamp)
}

// equal reports whether t and u are equal.
func (t *Traits) equal(u *Traits) bool {
	return t == u || t != nil && u != nil && t.Expiry.equal(u.Expiry) && t.Ending.equal(u.Ending) && t.Feed.equal(u.Feed)
}

func (f *Feed) equal(g *Feed) bool { return f == g || f != nil && g != nil && *f == *g }

func (e *Expiry) equal(f *Expiry) bool { return e == f || e != nil && f != nil && *e == *f }

// Ended reports whether an entity has ended (expired) at an instant and so counts as absent.
func (t *Traits) Ended(row *Row, now edm.Ticks) bool {
	return t != nil && (t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now))
}

// undoMargin is added to UndoTime before a rule begins to remove entities. In this additional time,
// programs with other clocks or with a cached rule learn that the rule was withdrawn.
const undoMargin = 60 * edm.TicksPerSecond

// RemoveTime is the age of a rule at which the rule begins to remove entities.
const RemoveTime = UndoTime + undoMargin

// endedAt returns the instant at which an entity expired. Ended must be true for the entity. If both
// the current rule (Expiry) and the withdrawn rule (Ending) made the entity expire, the earlier instant
// is returned.
func (t *Traits) endedAt(row *Row, now edm.Ticks) (at edm.Ticks) {
	for _, e := range [...]*Expiry{t.Expiry, t.Ending} {
		if e.hasExpired(row, now) {
			if ends, _ := e.Ends(row.Timestamp, row.Properties); at == 0 || ends < at {
				at = ends
			}
		}
	}
	return at
}

// Feeds reports whether the table has a change feed.
func (t *Traits) Feeds() bool { return t != nil && t.Feed != nil }

// removable reports whether an entity has expired and can be removed, because withdrawing the rule can
// no longer make the entity visible again.
func (t *Traits) removable(row *Row, now edm.Ticks) bool {
	return t != nil && (t.isPastUndoTime(now-undoMargin) && t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now))
}

// isPastUndoTime reports whether the rule in force is older than UndoTime. If it is withdrawn now,
// entities that have expired stay hidden.
func (t *Traits) isPastUndoTime(now edm.Ticks) bool {
	return t.Expiry != nil && now >= t.Expiry.Since+UndoTime
}

// These are the parts of stored traits (declared options). Each part consists of one byte that identifies the part, its
// length in two bytes, and its content.
const (
	partExpiry = 1 // the values of Expiry.After, Expiry.Since and Expiry.Until in 8 bytes each, and then the text of Expiry.Property
	partEnding = 2 // a withdrawn rule (Traits.Ending), in the same form as in partExpiry
	partFeed   = 3 // the value of Feed.Keep in 8 bytes
)

// append appends the stored form of the traits (declared options).
func (t *Traits) append(dst []byte) []byte {
	for i, e := range [...]*Expiry{t.Expiry, t.Ending} {
		if e == nil {
			continue
		}
		dst = append(dst, byte(partExpiry+i))
		dst = binary.BigEndian.AppendUint16(dst, uint16(24+len(e.Property)))
		for _, n := range [...]edm.Ticks{e.After, e.Since, e.Until} {
			dst = binary.BigEndian.AppendUint64(dst, uint64(n))
		}
		dst = append(dst, e.Property...)
	}
	if t.Feed != nil {
		dst = append(dst, partFeed, 0, 8)
		dst = binary.BigEndian.AppendUint64(dst, uint64(t.Feed.Keep))
	}
	return dst
}

var errRecord = errors.New("stored record is damaged")

// parseTraits is the inverse of append. If a part is unknown to this version, the error is
// [ErrNewerForm].
func parseTraits(b []byte) (*Traits, error) {
	t := new(Traits)
	for len(b) > 0 {
		if len(b) < 3 {
			return nil, errRecord
		}
		name, n := b[0], int(binary.BigEndian.Uint16(b[1:]))
		b = b[3:]
		switch {
		case name < partExpiry || name > partFeed:
			return nil, ErrNewerForm
		case name == partFeed && n == 8 && n <= len(b):
			t.Feed = &Feed{Keep: edm.Ticks(binary.BigEndian.Uint64(b))}
			b = b[n:]
			continue
		case name == partFeed || n < 24 || n > len(b):
			return nil, errRecord
		}
		e := &Expiry{
			After:    edm.Ticks(binary.BigEndian.Uint64(b)),
			Since:    edm.Ticks(binary.BigEndian.Uint64(b[8:])),
			Until:    edm.Ticks(binary.BigEndian.Uint64(b[16:])),
			Property: string(b[24:n]),
		}
		if b = b[n:]; name == partExpiry {
			t.Expiry = e
		} else {
			t.Ending = e
		}
	}
	return t, nil
}

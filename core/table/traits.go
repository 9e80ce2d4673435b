package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// Traits are the declared options of a table that a store must know: a rule of expiry and
// whether the table has a feed. A store keeps them in the table's record, together with the
// incarnation. Nil Traits declare nothing. Traits are immutable: a new declaration makes a
// new value.
type Traits struct {
	Expiry *Expiry // the rule in force, or nil
	// Ending is a rule that is no longer in force, or nil. It is kept while entities that
	// ended under it are still stored. Its Until is set.
	Ending *Expiry
	// Feed is set if the table keeps a feed of its changes, see [Feeding].
	Feed *Feed
}

// Expiry is a rule that says when entities end, that is, expire. Every read and write treats
// an entity that has ended as absent, even while it is still stored.
type Expiry struct {
	// Property is the name of a property, or "". If an entity has a DateTime in this
	// property, the entity ends at that instant.
	Property string
	// After is how long after its Timestamp an entity ends if Property does not decide; 0: it
	// never ends.
	After edm.Ticks
	// Since is when the rule was declared. No entity is removed before Since + UndoTime.
	Since edm.Ticks
	// Until is when the rule was withdrawn, or 0. A withdrawn rule concerns only entities
	// that were written, and had ended, by then.
	Until edm.Ticks
}

// Feed is the part of [Traits] that makes a store keep the changes of a table.
type Feed struct {
	// Keep is the minimum time for which a change can be read, if there is enough space.
	Keep edm.Ticks
}

// UndoTime is how long a new rule of expiry only hides entities and removes none. If the rule
// is withdrawn in this time, all entities are visible again.
const UndoTime = 3600 * edm.TicksPerSecond

// Ends returns when an entity with this Timestamp and these properties ends. This method is
// the definition; anything that a store keeps for it, such as an index, must agree with it.
func (e *Expiry) Ends(written edm.Ticks, p edm.Properties) (at edm.Ticks, ends bool) {
	if e.Property != "" {
		if v, ok := p.Lookup(e.Property); ok && v.Type() == edm.TypeDateTime {
			return v.Ticks(), true
		}
	}
	return written + e.After, e.After != 0
}

// ended reports whether an entity has ended at an instant. An instant before the entity's
// Timestamp, from a reader whose clock is slow, counts as the Timestamp.
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

// equal reports whether t and u declare the same.
func (t *Traits) equal(u *Traits) bool {
	return t == u || t != nil && u != nil && t.Expiry.equal(u.Expiry) && t.Ending.equal(u.Ending) && t.Feed.equal(u.Feed)
}

func (f *Feed) equal(g *Feed) bool { return f == g || f != nil && g != nil && *f == *g }

func (e *Expiry) equal(f *Expiry) bool { return e == f || e != nil && f != nil && *e == *f }

// Ended reports whether an entity has ended (expired) at an instant and so counts as absent.
func (t *Traits) Ended(row *Row, now edm.Ticks) bool {
	return t != nil && (t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now))
}

// undoMargin is added to UndoTime before a rule begins to remove entities. In this time, programs
// with other clocks, or with a cached rule, find out that the rule was withdrawn.
const undoMargin = 60 * edm.TicksPerSecond

// RemoveTime is the age at which a rule in force begins to remove entities.
const RemoveTime = UndoTime + undoMargin

// endedAt returns the instant at which an entity ended (expired). Ended must be true for the entity.
// If the entity ended by both rules, the earlier instant counts.
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

// Feeds reports whether the changes of the table are kept.
func (t *Traits) Feeds() bool { return t != nil && t.Feed != nil }

// removable reports whether an entity has ended (expired) and can be removed: its rule can no longer be
// withdrawn in a way that makes the entity visible again.
func (t *Traits) removable(row *Row, now edm.Ticks) bool {
	return t != nil && (t.isPastUndoTime(now-undoMargin) && t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now))
}

// removes reports whether the time is over in which the rule in force can be withdrawn.
func (t *Traits) isPastUndoTime(now edm.Ticks) bool {
	return t.Expiry != nil && now >= t.Expiry.Since+UndoTime
}

// These are the parts of stored traits. Each part has a byte that names it, its length in two
// bytes, and its content.
const (
	partExpiry = 1 // After, Since and Until, 8 bytes each; then Property
	partEnding = 2 // the same fields as in partExpiry
	partFeed   = 3 // Keep, 8 bytes
)

// append appends the stored form.
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

// parseTraits is the inverse of append. It refuses a part that this version does not know
// with [ErrNewerForm].
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

package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// Traits are the options of a table that its store must follow: a rule of expiry, and whether the table has a change
// feed. A nil Traits has no options. Traits are immutable.
type Traits struct {
	Expiry *Expiry // the rule in force, or nil
	// Ending is a withdrawn rule with Until set, or nil. The rule remains here while entities that expired under it are
	// still stored.
	Ending *Expiry
	// Feed is set if the table has a change feed, see [Feeding].
	Feed *Feed
}

// Expiry is a rule that determines when entities expire. All reads and writes treat an expired entity as absent, even
// while it is still stored.
type Expiry struct {
	// Property is the name of a property, or "". An entity with a DateTime in this property expires at that time.
	Property string
	// After is the maximum age of entities without a DateTime in Property, counted from their Timestamp. 0 means no
	// maximum.
	After edm.Ticks
	// Since is the instant at which the rule was declared. No entity is removed before Since + UndoTime.
	Since edm.Ticks
	// Until is the instant at which the rule was withdrawn, or 0. A withdrawn rule applies only to entities that were
	// last written and had expired by then.
	Until edm.Ticks
}

// Feed is the part of [Traits] that enables the change feed of a table.
type Feed struct {
	// Keep is the minimum time for which a change can be read, if there is enough space.
	Keep edm.Ticks
}

// UndoTime is how long a new rule of expiry hides expired entities without removing any. Withdrawing the rule within
// this time makes them visible again.
const UndoTime = 3600 * edm.TicksPerSecond

// ExpiresAt returns the instant at which an entity with the given Timestamp and properties expires. A store that
// computes this instant in another way, for example for an index, must get the same result.
func (e *Expiry) ExpiresAt(written edm.Ticks, p edm.Properties) (at edm.Ticks, ends bool) {
	if e.Property != "" {
		if v, ok := p.Lookup(e.Property); ok && v.Type() == edm.TypeDateTime {
			return v.Ticks(), true
		}
	}
	return written + e.After, e.After != 0
}

// hasExpired reports whether an entity has expired at the instant now. If now is before the entity's Timestamp, because
// a clock is slow, the Timestamp is used instead.
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
	at, ends := e.ExpiresAt(row.Timestamp, row.Properties)
	return ends && at <= max(now, row.Timestamp)
}

func (t *Traits) equal(u *Traits) bool {
	return t == u || t != nil && u != nil && t.Expiry.equal(u.Expiry) && t.Ending.equal(u.Ending) && t.Feed.equal(u.Feed)
}

func (f *Feed) equal(g *Feed) bool { return f == g || f != nil && g != nil && *f == *g }

func (e *Expiry) equal(f *Expiry) bool { return e == f || e != nil && f != nil && *e == *f }

// Ended reports whether an entity has expired at an instant and therefore counts as absent.
func (t *Traits) Ended(row *Row, now edm.Ticks) bool {
	return t != nil && (t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now))
}

// undoMargin is added to UndoTime before a rule begins to remove entities. It allows for other clocks, and for programs
// that do not know yet that the rule was withdrawn.
const undoMargin = 60 * edm.TicksPerSecond

// RemoveTime is the age at which a rule begins to remove entities.
const RemoveTime = UndoTime + undoMargin

// expiredAt returns the instant at which an entity expired. If the entity expired under both Expiry and Ending,
// expiredAt returns the earlier instant. The method Ended must report true for the entity.
func (t *Traits) expiredAt(row *Row, now edm.Ticks) (at edm.Ticks) {
	for _, e := range [...]*Expiry{t.Expiry, t.Ending} {
		if e.hasExpired(row, now) {
			if ends, _ := e.ExpiresAt(row.Timestamp, row.Properties); at == 0 || ends < at {
				at = ends
			}
		}
	}
	return at
}

// Feeds reports whether the table has a change feed.
func (t *Traits) Feeds() bool { return t != nil && t.Feed != nil }

// removable reports whether an entity has expired and stays hidden even if the rule is withdrawn now.
func (t *Traits) removable(row *Row, now edm.Ticks) bool {
	return t.isPastUndoTime(now-undoMargin) && t.Expiry.hasExpired(row, now) || t.Ending.hasExpired(row, now)
}

// isPastUndoTime reports whether the rule in force is older than UndoTime. Entities that expired under this rule then
// stay hidden even if the rule is withdrawn.
func (t *Traits) isPastUndoTime(now edm.Ticks) bool {
	return t.Expiry != nil && now >= t.Expiry.Since+UndoTime
}

// Parts of encoded traits. Each part has one byte that identifies the part, a length of two bytes, and its content.
const (
	partExpiry = 1 // Expiry.After, Since and Until in 8 bytes each, followed by Property
	partEnding = 2 // Traits.Ending, in the form of partExpiry
	partFeed   = 3 // Feed.Keep in 8 bytes
)

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

// parseTraits is the inverse of append. It fails with [ErrNewerForm] if it does not know a part.
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

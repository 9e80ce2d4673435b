package expiry

import (
	"bytes"
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	// One step of a pass removes at most mostRemoved entities and examines at most mostExamined bytes. The time until
	// the next step is afterRemoval or afterNothing.
	mostRemoved  = 100
	mostExamined = 1 << 20
	afterRemoval = edm.TicksPerSecond
	afterNothing = edm.TicksPerSecond / 20
	// minInterval and maxInterval are the minimum and maximum time between two passes.
	minInterval = 3600 * edm.TicksPerSecond
	maxInterval = 30 * 24 * minInterval
)

// Row is the key of a row with two times: the beginning of the next pass, and the field Sweep.clean.
var Row = []byte("mx")

// Sweep is the progress of a pass over the entities of an object. A row stores only Due and clean, so a restarted
// object begins the pass again.
type Sweep struct {
	Due edm.Ticks // when the next step is due; 0 means never

	clean edm.Ticks // the field Ending.Until of the withdrawn rule, if all entities that expired under this rule are removed; otherwise 0
	from  []byte    // the row at which the pass continues; nil if the pass has not begun
	began edm.Ticks
	next  edm.Ticks // when the first of the examined entities expires; 0 if none of them expires
	left  bool      // whether an expired entity could not be removed
}

// expires reports whether a table has, or had, an expiry rule. A table with only a feed needs no passes over its
// entities.
func expires(traits *table.Traits) bool {
	return traits != nil && (traits.Expiry != nil || traits.Ending != nil)
}

// Load reads the progress from the row. If there is no row, a pass begins at once.
func (s *Sweep) Load(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	*s = Sweep{}
	if !expires(traits) {
		return
	}
	s.Due = now
	if v, ok := rows.Get(Row); ok && len(v) == 16 {
		s.Due, s.clean = edm.Ticks(binary.BigEndian.Uint64(v)), edm.Ticks(binary.BigEndian.Uint64(v[8:]))
	}
}

func (s *Sweep) put(rows storage.Rows) {
	rows.Put(Row, binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(s.Due)), uint64(s.clean)))
}

// Declared schedules a pass over all entities after the declared options changed or entities arrived, unless no entity
// can expire.
func (s *Sweep) Declared(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	*s = Sweep{}
	if !expires(traits) {
		rows.Delete(Row)
		return
	}
	s.Due = s.earliestRemoval(traits, now)
	s.put(rows)
}

// earliestRemoval returns the first instant at which a pass may remove something.
func (s *Sweep) earliestRemoval(traits *table.Traits, now edm.Ticks) edm.Ticks {
	if e := traits.Expiry; e != nil && (traits.Ending == nil || s.clean == traits.Ending.Until) {
		return max(now, e.Since+table.RemoveTime)
	}
	return now
}

// Clean reports whether all entities that expired under a withdrawn rule are removed.
func (s *Sweep) Clean(traits *table.Traits) bool {
	return traits == nil || traits.Ending == nil || s.clean == traits.Ending.Until
}

// NoteWrite must be called after an entity was written. If the entity will expire, the next pass begins early enough to
// remove it.
func (s *Sweep) NoteWrite(rows storage.Rows, traits *table.Traits, row *table.Row, now edm.Ticks) {
	if traits == nil || traits.Expiry == nil {
		return
	}
	at, ends := traits.Expiry.ExpiresAt(row.Timestamp, row.Properties)
	if at = passTime(at, now); ends && s.from == nil && (s.Due == 0 || at < s.Due) {
		s.Due = at
		s.put(rows)
	} else if ends && s.from != nil && (s.next == 0 || at < s.next) {
		s.next = at
	}
}

// passTime returns when the next pass must begin, so that it removes an entity that expires at the given instant.
func passTime(expiresAt, now edm.Ticks) edm.Ticks {
	return min(max(expiresAt, now+minInterval), now+maxInterval)
}

// IsWaiting reports whether no step is due now.
func (s *Sweep) IsWaiting(now edm.Ticks) bool {
	return s.Due == 0 || s.Due > now && s.Due <= now+maxInterval // a later time means that the clock has stepped back, and the step is due
}

// Step examines the next entities with the given keys. It returns the keys and Timestamps of the expired entities. The
// results share no memory with rows.
func (s *Sweep) Step(rows storage.Rows, traits *table.Traits, keys key.Range, now edm.Ticks) (list []table.Row) {
	if s.from == nil {
		s.from, s.began, s.next, s.left = append([]byte{storage.SpaceEntities}, keys.Start...), now, 0, false
	}
	to := []byte{storage.SpaceEntities + 1}
	if keys.End != nil {
		to = append([]byte{storage.SpaceEntities}, keys.End...)
	}
	examined, more := 0, false
	for k, v := range rows.Scan(s.from, to, mostExamined/4) {
		if len(list) == mostRemoved || examined > mostExamined {
			s.from, more = bytes.Clone(k), true
			break
		}
		examined += len(k) + len(v)
		row, err := table.ParseRow(k[1:], v)
		switch {
		case err != nil: // the row is damaged; a read of the row reports that
		case traits.Ended(&row, now):
			list = append(list, table.Row{Key: bytes.Clone(row.Key), Timestamp: row.Timestamp})
		case traits.Expiry != nil:
			if at, ends := traits.Expiry.ExpiresAt(row.Timestamp, row.Properties); ends && (s.next == 0 || at < s.next) {
				s.next = at
			}
		}
	}
	switch {
	case !more:
		s.from = nil
	case len(list) > 0:
		s.Due = now + afterRemoval
	default:
		s.Due = now + afterNothing
	}
	return list
}

// NoteRefusal must be called if an expired entity could not be removed yet.
func (s *Sweep) NoteRefusal() { s.left = true }

// FinishPass records the end of a pass, if Step has examined the last entity.
func (s *Sweep) FinishPass(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	if s.from != nil {
		return
	}
	if e := traits.Ending; e != nil && s.began > e.Until {
		s.clean = e.Until // clean is set even if an entity could not be removed, because that entity has expired under the current rule too
	}
	switch {
	case s.left:
		s.Due = max(now+minInterval/60, s.earliestRemoval(traits, now))
	case s.next == 0:
		s.Due = 0
	default:
		s.Due = passTime(s.next, now)
	}
	s.put(rows)
}

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
	// A step of a pass removes at most mostRemoved entities, and examines mostExamined bytes. The
	// next one is a second later, or sooner where nothing was removed.
	mostRemoved  = 100
	mostExamined = 1 << 20
	afterRemoval = edm.TicksPerSecond
	afterNothing = edm.TicksPerSecond / 20
	// least and longest bound the time between two passes.
	least   = 3600 * edm.TicksPerSecond
	longest = 30 * 24 * least
)

// Row is the key of the row that says when the next pass begins, and which withdrawn rule, by the
// time of that, has left nothing.
var Row = []byte("mx")

// Sweep is how far a pass over the entities of an object is. What the row does not say is forgotten
// with the engine: then the pass begins anew.
type Sweep struct {
	Due edm.Ticks // when it goes on, 0: never

	clean edm.Ticks // the Until of a withdrawn rule that has left nothing
	from  []byte    // the row at which it continues, nil: it has not begun
	began edm.Ticks
	next  edm.Ticks // when the first of the entities that it passed ends; 0: none does
	left  bool      // some that have ended could not be removed
}

// Load reads the row.
func (s *Sweep) Load(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	*s = Sweep{}
	if traits == nil {
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

// Declared begins a pass by other traits, or over other entities; without traits nothing is left to
// do.
func (s *Sweep) Declared(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	*s = Sweep{}
	if traits == nil {
		rows.Delete(Row)
		return
	}
	s.Due = s.first(traits, now)
	s.put(rows)
}

// first is the first instant at which a pass may remove something.
func (s *Sweep) first(traits *table.Traits, now edm.Ticks) edm.Ticks {
	if e := traits.Expiry; e != nil && (traits.Ending == nil || s.clean == traits.Ending.Until) {
		return max(now, e.Since+table.RemoveTime)
	}
	return now
}

// Clean reports whether nothing is stored that a withdrawn rule has ended.
func (s *Sweep) Clean(traits *table.Traits) bool {
	return traits == nil || traits.Ending == nil || s.clean == traits.Ending.Until
}

// Wrote lets the next pass come in time for an entity that was written.
func (s *Sweep) Wrote(rows storage.Rows, traits *table.Traits, row *table.Row, now edm.Ticks) {
	if traits == nil || traits.Expiry == nil {
		return
	}
	at, ends := traits.Expiry.Ends(row.Timestamp, row.Properties)
	if at = between(at, now); ends && s.from == nil && (s.Due == 0 || at < s.Due) {
		s.Due = at
		s.put(rows)
	} else if ends && s.from != nil && (s.next == 0 || at < s.next) {
		s.next = at
	}
}

// between is when a pass comes for what ends at an instant.
func between(at, now edm.Ticks) edm.Ticks { return min(max(at, now+least), now+longest) }

// Waits reports whether the next step is not due.
func (s *Sweep) Waits(now edm.Ticks) bool {
	return s.Due == 0 || s.Due > now && s.Due <= now+longest // else the clock stepped back
}

// Step examines the next entities of an object with these keys, and returns those that have ended, by
// key and Timestamp, in memory of their own. ended is the instant of the pass, now that of this step.
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
		case err != nil: // reads tell of it
		case traits.Ended(&row, now):
			list = append(list, table.Row{Key: bytes.Clone(row.Key), Timestamp: row.Timestamp})
		case traits.Expiry != nil:
			if at, ends := traits.Expiry.Ends(row.Timestamp, row.Properties); ends && (s.next == 0 || at < s.next) {
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

// Refused says that an entity that has ended could not be removed yet.
func (s *Sweep) Refused() { s.left = true }

// Ended ends a pass, if the last step was its last one.
func (s *Sweep) Ended(rows storage.Rows, traits *table.Traits, now edm.Ticks) {
	if s.from != nil {
		return
	}
	if e := traits.Ending; e != nil && s.began > e.Until {
		s.clean = e.Until // the next rule alone may have refused
	}
	switch {
	case s.left:
		s.Due = max(now+least/60, s.first(traits, now))
	case s.next == 0:
		s.Due = 0
	default:
		s.Due = between(s.next, now)
	}
	s.put(rows)
}

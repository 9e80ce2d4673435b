package traffic

import (
	"errors"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// Saved is the state of a Counter in the form in which a file stores it.
type Saved struct {
	Tables []SavedTable `json:"tables"`
}

// SavedTable has all counts of one table.
type SavedTable struct {
	Account, Table string
	Now            edm.Ticks
	Windows        [2]SavedWindow // the current window and the previous one
	Bounds         [][]byte
	Minutes        []Column
	Quarters       []Column
	Ends           [4][]byte
	Inserts        int
}

// SavedWindow holds the counts of one day.
type SavedWindow struct {
	Since  edm.Ticks
	Totals Totals
	Heavy  [metrics]Heavy
	Hashes [metrics][]uint64 // hashes of the full names of the partitions in Heavy; Heavy itself may contain truncated names
	Shapes []Shape
}

// Save returns the detailed counts of all tables.
func (c *Counter) Save() Saved {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s Saved
	for _, t := range c.tables {
		s.Tables = append(s.Tables, t.save())
	}
	return s
}

func (t *counted) save() SavedTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.totals.Missed += t.missed.Swap(0)
	s := SavedTable{
		Account: t.account, Table: t.written, Now: t.now, Windows: [2]SavedWindow{t.tally.save(), t.old.save()},
		Minutes: append([]Column{}, t.grid.minutes...), Quarters: append([]Column{}, t.grid.quarters...),
		Bounds: append([][]byte{}, t.grid.bounds...), Inserts: t.tally.ends.n,
	}
	if t.grid.touched {
		s.Minutes = append(s.Minutes, Column{t.grid.at, t.grid.open.pack()})
	}
	sum := t.grid.sum
	sum.add(&t.grid.open)
	if sum != (cells{}) {
		s.Quarters = append(s.Quarters, Column{t.grid.at - t.grid.at%quarter, sum.pack()})
	}
	for i, k := range t.tally.ends.keys() {
		s.Ends[i] = append([]byte(nil), *k...)
	}
	return s
}

func (w *window) save() SavedWindow {
	s := SavedWindow{Since: w.since, Totals: w.totals, Shapes: append([]Shape{}, w.shapes...)}
	for m := range w.heavy {
		s.Heavy[m] = w.heavy[m].save()
		for _, e := range s.Heavy[m].Entries {
			s.Hashes[m] = append(s.Hashes[m], e.Hash)
		}
	}
	return s
}

var errDamaged = errors.New("the saved counts contradict each other")

// Restore returns a Counter that continues saved counts at the time now. If now is in the same minute (or quarter of an
// hour) as the call of Save, the report has two columns for it.
func Restore(s *Saved, now edm.Ticks) (*Counter, error) {
	c := New()
	c.now = now
	if len(s.Tables) > busiest {
		return nil, errDamaged
	}
	for i := range s.Tables {
		t, err := s.Tables[i].restore(now)
		if err != nil {
			return nil, errors.New("table " + strconv.Quote(s.Tables[i].Table) + ": " + err.Error())
		}
		c.tables = append(c.tables, t)
		c.addSpelling(t.written, t)
	}
	return c, nil
}

func (s *SavedTable) restore(now edm.Ticks) (*counted, error) {
	t := newCounted(name{s.Account, strings.ToLower(s.Table)}, s.Table, now)
	for i, w := range []*window{&t.tally.window, &t.old} {
		if err := s.Windows[i].restore(w); err != nil {
			return nil, err
		}
	}
	t.requests = t.tally.Requests() + t.old.Requests()
	if len(s.Bounds) >= ranges {
		return nil, errDamaged
	}
	for _, list := range [][]Column{s.Minutes, s.Quarters} {
		for _, column := range list {
			if _, ok := unpack(column.Cells); !ok {
				return nil, errDamaged
			}
		}
	}
	t.grid.bounds, t.grid.minutes, t.grid.quarters = s.Bounds, s.Minutes, s.Quarters
	t.tally.ends = ends{s.Ends[0], s.Ends[1], s.Ends[2], s.Ends[3], s.Inserts}
	return t, nil
}

func (s *SavedWindow) restore(w *window) error {
	*w = newWindow(s.Since, ofTable)
	w.totals, w.shapes = s.Totals, s.Shapes
	if len(w.shapes) > w.size.shapes {
		return errDamaged
	}
	for m := range s.Heavy {
		if len(s.Hashes[m]) != len(s.Heavy[m].Entries) {
			return errDamaged
		}
		for i := range s.Heavy[m].Entries {
			s.Heavy[m].Entries[i].Hash = s.Hashes[m][i]
		}
		w.heavy[m].restore(&s.Heavy[m])
	}
	return nil
}

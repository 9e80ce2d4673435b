package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is the entities of a range in order: those in their own cells, and those
// in journals.
type stream struct {
	r        key.Range
	prefix   string // of the names of entities
	common   int    // how much of a key is listed for
	entities *walk
	journals *journalStream // nil where there are none
}

// candidate is an entity that a stream came to, in one of its two places or both.
type candidate struct {
	key    []byte
	entity *found
	row    *journalRow
}

// gone reports whether the entity was deleted, as far as it can be told yet.
func (c *candidate) gone() bool {
	switch {
	case c.row == nil:
		return c.entity.gone
	case c.entity == nil || c.entity.stamp <= c.row.stamp():
		return c.row.gone
	}
	return c.entity.gone
}

func (s *stream) peek(ctx context.Context) (*candidate, error) {
	c := new(candidate)
	f, err := s.entities.peek(ctx)
	if err != nil {
		return nil, err
	}
	if f != nil {
		if f.mark {
			c.key = markedBy(s.prefix, f.name)
		} else {
			c.key = keyOf(s.prefix, f.name)
		}
		if c.key == nil {
			return nil, errCell
		}
		c.entity = f
	}
	if s.journals != nil {
		k, row, err := s.journals.peek(ctx)
		if err != nil {
			return nil, err
		}
		if row != nil {
			order := -1
			if c.key != nil {
				order = bytes.Compare(k, c.key)
			}
			if order < 0 {
				c.key, c.entity = k, nil
			}
			if order <= 0 {
				c.row = row
			}
		}
	}
	if c.key == nil || s.r.End != nil && bytes.Compare(c.key, s.r.End) >= 0 {
		return nil, nil
	}
	return c, nil
}

func (s *stream) take(c *candidate) {
	if c.entity != nil {
		s.entities.take(c.entity)
	}
	if c.row != nil {
		s.journals.take()
	}
}

// resolve is the row of a candidate; it is not ok if the entity is gone. The
// caller owns the row.
func (s *stream) resolve(ctx context.Context, c *candidate) (row table.Row, ok bool, err error) {
	var cell []byte
	shared := true
	if c.entity != nil && !c.gone() && (c.row == nil || c.entity.stamp > c.row.stamp()) {
		if cell, err = s.entities.whole(ctx, c.entity); err != nil {
			return row, false, err
		}
		shared = c.entity.shared
	}
	// What was read now may be older than what was listed.
	if c.row != nil && (cell == nil || stampOf(cell) < c.row.stamp()) {
		if c.row.gone {
			return row, false, nil
		}
		cell, shared = c.row.cell, true
	}
	if cell == nil {
		return row, false, nil
	}
	if shared {
		cell = bytes.Clone(cell)
	}
	row, err = table.ParseRow(c.key, cell)
	return row, err == nil, err
}

// resume are the cursors with which the stream goes on from here.
func (s *stream) resume() (c cursors) {
	c.common, c.entities = s.common, s.entities.resume()
	if s.journals != nil {
		c.journal = s.journals.resume()
	}
	return c
}

// journalStream is the rows of the journals of a range in order.
type journalStream struct {
	r    key.Range
	end  string // the name of the journal of the partition in which the range ends
	seen *seen
	walk *walk  // nil: over nothing but what was seen
	at   string // the cursor from which the journal at hand was listed

	keys []string // of the journal at hand, not taken yet
	rows map[string]journalRow
	row  journalRow
}

// seen is the journal to which a page came last, which may be that there is none.
// The next range may be of the same partition, and must not be shown a later state
// of it: a transaction may have come between.
type seen struct {
	name string
	keys []string
	rows map[string]journalRow
}

// again goes through what was seen.
func (s *journalStream) again() {
	s.rows = s.seen.rows
	for _, k := range s.seen.keys {
		if s.r.Contains([]byte(k)) {
			s.keys = append(s.keys, k)
		}
	}
}

func (s *journalStream) peek(ctx context.Context) ([]byte, *journalRow, error) {
	for len(s.keys) == 0 {
		if s.walk == nil {
			return nil, nil, nil
		}
		f, err := s.walk.peek(ctx)
		if err != nil {
			return nil, nil, err
		}
		if f == nil || f.name > s.end && s.end != "" {
			if s.seen.name != s.end {
				*s.seen = seen{name: s.end}
			}
			return nil, nil, nil
		}
		s.at = s.walk.resume()
		if f.name == s.seen.name {
			s.walk.take(f)
			s.again()
			continue
		}
		body, err := s.walk.whole(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		s.walk.take(f)
		j, err := decodeJournal(body)
		if err != nil {
			return nil, nil, err
		}
		*s.seen = seen{f.name, j.keys(), j.rows}
		s.again()
	}
	s.row = s.rows[s.keys[0]]
	return []byte(s.keys[0]), &s.row, nil
}

func (s *journalStream) take() { s.keys = s.keys[1:] }

func (s *journalStream) resume() string {
	switch {
	case s.walk == nil:
		return ""
	case len(s.keys) > 0:
		return s.at
	}
	return s.walk.resume()
}

// newer is the newer of two states of an entity, each a cell or nil; row is that
// of the journal.
func newer(cell []byte, row *journalRow) ([]byte, edm.Ticks) {
	if row != nil && (cell == nil || stampOf(cell) <= row.stamp()) {
		if row.gone {
			return nil, row.stamp()
		}
		return row.cell, row.stamp()
	}
	if cell == nil {
		return nil, 0
	}
	return cell, stampOf(cell)
}

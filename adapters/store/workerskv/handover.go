package workerskv

import (
	"bytes"
	"strings"

	"edgetable/core/edm"
)

// Memo is what a store remembers of one write, for two minutes. A store that takes
// the place of another at once must remember the same, or it would trust what KV
// still shows from before.
type Memo struct {
	Name    string
	Stamp   edm.Ticks
	Body    []byte // nil: it was deleted
	At      edm.Ticks
	Doubted bool // another write may have come after it
}

// Memos is all that this store remembers, the oldest first. Bodies are read-only.
// Nothing may be under way, now or later.
func (s *Store) Memos() []Memo {
	m := s.cells.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	list := make([]Memo, 0, len(m.memos))
	for e := m.order.Front(); e != nil; e = e.Next() {
		one := e.Value.(*memo)
		list = append(list, Memo{one.name, one.stamp, one.body, one.at, one.doubted})
	}
	return list
}

// Remember has a new store remember what another did, in the order of
// [Store.Memos]. It copies the memo.
func (s *Store) Remember(one Memo) {
	s.clock.after(one.Stamp)
	m := s.cells.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(&memo{strings.Clone(one.Name), one.Stamp, bytes.Clone(one.Body), one.At, one.Doubted})
}

package workerskv

import (
	"container/list"
	"slices"
	"strings"
	"sync"

	"edgetable/core/edm"
)

// memory is what this isolate wrote in the last minutes. KV may show what was
// there before for as long; of the two the newer counts.
type memory struct {
	now  func() edm.Ticks
	most int // bytes

	mu    sync.Mutex
	memos map[string]*list.Element // of memo
	order list.List                // by age, the oldest first
	bytes int
	held  int // for what is being written
}

// memo is one write. A body of nil is a delete, or nothing that is known.
type memo struct {
	name    string
	stamp   edm.Ticks
	body    []byte
	at      edm.Ticks
	doubted bool // another write may have come after it
}

const (
	// settled is after how long all isolates see a write: the minute that KV takes,
	// or more, and what requests take that are under way.
	settled edm.Ticks = 120 * edm.TicksPerSecond
	// memoSize is what a memo takes besides its bytes, about.
	memoSize = 200
)

func newMemory(now func() edm.Ticks, most int) *memory {
	return &memory{now: now, most: most, memos: make(map[string]*list.Element)}
}

func (m *memo) size() int { return memoSize + len(m.name) + len(m.body) }

// get returns what was written last, if it was not long ago. The body is
// read-only.
func (m *memory) get(name string) (memo, bool) {
	if m == nil {
		return memo{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	if e, ok := m.memos[name]; ok {
		return *e.Value.(*memo), true
	}
	return memo{}, false
}

// put keeps a body, which nobody changes any more.
func (m *memory) put(name string, stamp edm.Ticks, body []byte) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(&memo{name: name, stamp: stamp, body: body, at: m.now()})
	m.expire()
	for m.bytes > m.most && m.order.Len() > 1 {
		m.forget(m.order.Front())
	}
}

// doubt is for a write of which it is not known whether it came about.
func (m *memory) doubt(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := &memo{name: name}
	if e, ok := m.memos[name]; ok {
		*one = *e.Value.(*memo)
	}
	one.at, one.doubted = m.now(), true
	m.add(one)
}

// room reports whether n bytes can be kept for a name, in place of what is, without
// forgetting any that others may not see yet.
func (m *memory) room(name string, n int) bool {
	drop := m.hold(name, n)
	if drop == nil {
		return false
	}
	drop()
	return true
}

// hold keeps the room for n bytes while they are written; nil is that there is
// none.
func (m *memory) hold(name string, n int) (drop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	n += memoSize + maxName
	if e, ok := m.memos[name]; ok {
		n = max(n-e.Value.(*memo).size(), 0)
	}
	if m.bytes+m.held+n > m.most {
		return nil
	}
	m.held += n
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held -= n
	}
}

// from is what was written under names that begin with prefix and are ≥ from.
func (m *memory) from(prefix, from string) []memo {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	var names []string
	for name := range m.memos {
		if name >= from && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare) // as journal does: of each kind of sort there is one in a module
	found := make([]memo, len(names))
	for i, name := range names {
		found[i] = *m.memos[name].Value.(*memo)
	}
	return found
}

// expire forgets what is old. The caller holds mu.
func (m *memory) expire() {
	now := m.now()
	for e := m.order.Front(); e != nil && e.Value.(*memo).at+settled <= now; e = m.order.Front() {
		m.forget(e)
	}
}

// add remembers a write in place of the last one of its name. The caller holds mu.
func (m *memory) add(one *memo) {
	m.forget(m.memos[one.name])
	m.memos[one.name] = m.order.PushBack(one)
	m.bytes += one.size()
}

func (m *memory) forget(e *list.Element) {
	if e == nil {
		return
	}
	one := m.order.Remove(e).(*memo)
	delete(m.memos, one.name)
	m.bytes -= one.size()
}

package storetest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// concurrentExpiry runs concurrent inserts, reads and removals of entities that expire soon. An unexpired entity must
// block an insert, and an expired one must not be read.
func concurrentExpiry(e *env) { expiryHistory(e) }

// skewedExpiry is concurrentExpiry with two stores over the same data, whose clocks differ. Neither may return an
// entity that has expired according to the slower clock.
func skewedExpiry(e *env) { expiryHistory(e, millisecond) }

// expiryHistory runs clients that insert, read and remove entities that expire soon. For each element of ahead, some
// clients use another store whose clock is ahead by this duration.
func expiryHistory(e *env, ahead ...edm.Ticks) {
	s, n := e.createExpiring(&table.Expiry{Property: "E"})
	h := &endings{env: e, name: n.Key(), lives: map[string][]interval{}}
	programs := []program{{store: e.Store, service: s}}
	for _, skew := range ahead {
		if e.Share == nil {
			return
		}
		now := func() edm.Ticks { return e.clock.now() + skew }
		store := e.Share(now)
		programs = append(programs, program{store, table.New(declaring{store}, table.Options{Now: now, Rand: rand.Uint64}), skew})
	}
	e.clock.advance(matured)
	e.clock.step.Store(millisecond / 10)
	var g sync.WaitGroup
	for w := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(w), 1))
		g.Go(func() {
			for range e.repetitions(300, 30) {
				h.insert(programs[w%len(programs)], rnd)
			}
		})
	}
	for _, p := range programs {
		g.Go(func() {
			for range e.repetitions(20, 3) {
				e.upkeep(p.service, n)
			}
		})
	}
	g.Wait()
	h.check()
}

// program is one of several programs that share the data. Each program has its own store object and
// its own clock.
type program struct {
	store   table.Store
	service *table.Service
	ahead   edm.Ticks // time by which the clock of the store is ahead
}

// interval is the time in which an entity exists: from the Timestamp of its insert to the instant at which it
// expires.
type interval struct{ from, to edm.Ticks }

// endings records the inserts of entities that expire.
type endings struct {
	*env
	name  table.RecordKey
	mu    sync.Mutex
	lives map[string][]interval // for each key, the intervals in which the entity existed
}

// insert inserts an entity that expires soon or has just expired. Then it reads the entity, and scans the
// table.
func (h *endings) insert(p program, rnd *rand.Rand) {
	now := func() edm.Ticks { return edm.Ticks(h.clock.ticks.Load()) } // the slowest clock of all stores
	k := at("p", string(rune('a'+rnd.IntN(3))))
	m := table.Mutation{Key: k, Condition: table.Absent, Properties: ends(now()+p.ahead+edm.Ticks(rnd.IntN(20))*millisecond/10, "1"), Nonce: 1}
	switch ticks, err := p.store.Commit(h.Context(), h.name, []table.Mutation{m}); {
	case err == nil:
		to, _ := m.Properties.Lookup("E")
		h.mu.Lock()
		h.lives[string(k)] = append(h.lives[string(k)], interval{ticks, to.Ticks()})
		h.mu.Unlock()
	case reason(err) != reason(&table.Refused{Err: table.ErrExists}):
		h.Errorf("an insert: %s", reason(err))
	}
	began := now()
	row, err := p.store.Get(h.Context(), h.name, k, table.Strong)
	if to, _ := row.Properties.Lookup("E"); err == nil && to.Ticks() <= began {
		h.Errorf("a read that began at %d shows an entity that ended at %d", began, to.Ticks())
	}
	page, err := p.store.Scan(h.Context(), h.name, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		h.Error(err)
	}
	for _, row := range page.Rows {
		if to, _ := row.Properties.Lookup("E"); to.Ticks() <= began {
			h.Errorf("a page that began after %d shows an entity that ended at %d", began, to.Ticks())
		}
	}
}

// check fails the test if an insert succeeded before the previous entity with the same key had expired.
func (h *endings) check() {
	for k, list := range h.lives {
		slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
		for i := 1; i < len(list); i++ {
			if list[i-1].to > list[i].from {
				h.Errorf("%s was inserted at %d, while that of %d lives until %d", showKey([]byte(k)), list[i].from, list[i-1].from, list[i-1].to)
			}
		}
	}
}

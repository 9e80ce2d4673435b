package workerskv

import (
	"context"
	"strings"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// records remembers for seconds which tables live, since every operation on
// entities asks that. KV shows a deleted table for a minute anyway; but what this
// isolate created or deleted itself it knows at once.
type records struct {
	now    func() edm.Ticks
	mu     sync.Mutex
	seen   map[string]recent
	under  int    // writes of this isolate that are under way
	writes uint64 // that it began or ended
}

type recent struct {
	life string
	at   edm.Ticks
}

const (
	recordAge  edm.Ticks = 10 * edm.TicksPerSecond
	maxRecords           = 1000
)

// get also returns for [records.keep] what was written until now.
func (r *records) get(name string) (life string, writes uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, ok := r.seen[name]
	now := r.now()
	return one.life, r.writes, ok && one.at <= now && now < one.at+recordAge
}

// keep remembers a life that was read after get, unless a record is being written
// or was since: the life may have ended then.
func (r *records) keep(name, life string, writes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes != writes || r.under > 0 {
		return
	}
	if len(r.seen) >= maxRecords {
		clear(r.seen)
	}
	r.seen[strings.Clone(name)] = recent{life, r.now()}
}

// write does a write of the record of a table. What is read meanwhile is not kept.
func (r *records) write(name string, do func() (edm.Ticks, error)) (edm.Ticks, error) {
	count := func(under int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.seen, name)
		r.under += under
		r.writes++
	}
	count(1)
	defer count(-1)
	return do()
}

// life finds where the entities of a table are.
func (s *Store) life(ctx context.Context, t table.RecordKey) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name := t.String()
	life, writes, ok := s.records.get(name)
	if ok {
		return life, nil
	}
	d, err := readRecord(ctx, &s.cells, name)
	if err != nil {
		return "", err
	}
	life = lifeOf(d.Incarnation)
	s.records.keep(name, life, writes)
	return life, nil
}

// readRecord reads the record of a table.
func readRecord(ctx context.Context, c *cells, name string) (table.Record, error) {
	d, err := readDocument(ctx, c, name)
	if err == table.ErrNoRecord || err == nil && d.Key.Table == "" {
		return d, table.ErrNoTable
	}
	return d, err
}

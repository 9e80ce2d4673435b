package workerskv

import (
	"context"
	"strings"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// records remembers for seconds which tables live, since every operation on
// entities asks that. KV shows a deleted table for a minute anyway.
type records struct {
	now  func() edm.Ticks
	mu   sync.Mutex
	seen map[string]recent
}

type recent struct {
	life string
	at   edm.Ticks
}

const (
	recordAge  edm.Ticks = 10 * edm.TicksPerSecond
	maxRecords           = 1000
)

func (r *records) get(name string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, ok := r.seen[name]
	now := r.now()
	return one.life, ok && one.at <= now && now < one.at+recordAge
}

// put remembers a life; "" forgets.
func (r *records) put(name, life string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if life == "" {
		delete(r.seen, name)
		return
	}
	if len(r.seen) >= maxRecords {
		clear(r.seen)
	}
	r.seen[strings.Clone(name)] = recent{life, r.now()}
}

// life finds where the entities of a table are.
func (s *Store) life(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if life, ok := s.records.get(name); ok {
		return life, nil
	}
	d, err := readRecord(ctx, &s.cells, name)
	if err != nil {
		return "", err
	}
	life := lifeOf(d.Layout.Incarnation)
	s.records.put(name, life)
	return life, nil
}

// readRecord reads the record of a table.
func readRecord(ctx context.Context, c *cells, name string) (table.Document, error) {
	d, err := readDocument(ctx, c, name)
	if err == table.ErrNoDocument || err == nil && d.Layout == (table.Layout{}) {
		return d, table.ErrNoTable
	}
	return d, err
}

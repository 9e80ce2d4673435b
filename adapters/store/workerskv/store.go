package workerskv

import (
	"bytes"
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Store implements [table.Store] with all data in one KV namespace. Create one with [New].
type Store struct {
	o     Options
	clock *table.Clock

	mu     sync.Mutex
	tables map[table.RecordKey]tableLease
}

var _ table.Store = (*Store)(nil)

// Declares implements [table.Declaring].
func (*Store) Declares() (name string, expiry bool) { return "Workers KV", false }

// New returns a Store. It makes no KV calls.
func New(o Options) (*Store, error) {
	if o.Namespace == nil || o.Now == nil {
		return nil, errOptions
	}
	o.Calls = callsPerPage(o.Calls)
	return &Store{o: o, clock: table.NewClock(o.Now, 0, nil), tables: make(map[table.RecordKey]tableLease)}, nil
}

// Get implements [table.Store]. The read is always eventually consistent, even if a strong read is requested.
func (s *Store) Get(ctx context.Context, t table.RecordKey, k []byte, _ table.Consistency) (table.Row, error) {
	prefix, err := s.entities(ctx, t)
	if err != nil {
		return table.Row{}, err
	}
	return readEntity(ctx, s.o.Namespace, prefix, k)
}

// Scan implements [table.Store]; see Get.
func (s *Store) Scan(ctx context.Context, t table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if r.Descending {
		return table.Page{}, errAscending
	}
	prefix, err := s.entities(ctx, t)
	if err != nil {
		return table.Page{}, err
	}
	sc := scanner{ns: s.o.Namespace, prefix: prefix, request: r, budget: budget{calls: s.o.Calls}}
	return sc.scan(ctx)
}

func readEntity(ctx context.Context, ns Namespace, prefix string, k []byte) (table.Row, error) {
	if len(k) > maxKey {
		return table.Row{}, table.ErrNoEntity
	}
	cell, err := readCell(ctx, ns, nameOf(prefix, k))
	if err != nil {
		return table.Row{}, err
	}
	if cell == nil {
		return table.Row{}, table.ErrNoEntity
	}
	return table.ParseRow(bytes.Clone(k), cell)
}

// timestamp issues a Timestamp above floor and above all Timestamps that this Store has issued.
func (s *Store) timestamp(floor edm.Ticks) edm.Ticks {
	s.clock.Raise(floor)
	t, _ := s.clock.Next() // Next fails only if it cannot reserve Timestamps, and this clock reserves none
	return t
}

// tableLease caches the incarnation of a table for leaseTime. The incarnation may be out of date, but every result of
// KV may be out of date for a minute.
type tableLease struct {
	prefix string // prefix of the names of the table's entities
	at     edm.Ticks
}

const (
	leaseTime = 10 * edm.TicksPerSecond
	maxLeases = 1000
)

// entities returns the prefix of the names of a table's entities.
func (s *Store) entities(ctx context.Context, t table.RecordKey) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	now := s.o.Now()
	s.mu.Lock()
	l, ok := s.tables[t]
	s.mu.Unlock()
	if ok && l.at <= now && now < l.at+leaseTime {
		return l.prefix, nil
	}
	record, err := readTable(ctx, s.o.Namespace, t)
	if err != nil {
		return "", err
	}
	prefix := entityPrefix(record.Incarnation)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tables) >= maxLeases {
		clear(s.tables)
	}
	s.tables[record.Key] = tableLease{prefix, now}
	return prefix, nil
}

// release removes the lease of a table.
func (s *Store) release(t table.RecordKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, t)
}

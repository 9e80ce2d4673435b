package memstore

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Store keeps everything in memory. Several [table.Service] values may share one Store.
type Store struct {
	clock *table.Clock // one clock for all tables, so Timestamps also increase if a table is deleted and created again

	mu        sync.RWMutex
	records   *tree[table.Record]
	entities  map[table.Incarnation]*tree[table.Row]
	feeds     map[table.Incarnation]*feed
	history   table.History
	changed   chan struct{} // closed by the next change; nil if no client waits for changes
	last      edm.Ticks     // highest Timestamp of a commit or of a change to a feed
	revisions uint64        // number of revisions issued so far
}

var _ table.Store = (*Store)(nil)

// New makes an empty store. The function now is the clock for the Timestamps.
func New(now func() edm.Ticks) *Store {
	return &Store{
		clock:    table.NewClock(now, 0, nil),
		entities: make(map[table.Incarnation]*tree[table.Row]),
		feeds:    make(map[table.Incarnation]*feed),
		history:  newHistory(),
	}
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, _ table.Consistency) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.records.get(key.String())
	if !ok {
		return table.Record{}, table.ErrNoRecord
	}
	r.Value = bytes.Clone(r.Value)
	return r, nil
}

// WriteRecord implements [table.Store].
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.records.get(r.Key.String())
	if old.Revision != r.Revision {
		return "", table.ErrRevision
	}
	if exists {
		r.Incarnation = old.Incarnation
	}
	if err := s.declareFeed(r.Incarnation, r.Traits); err != nil {
		return "", err
	}
	s.revisions++
	r.Revision = table.Revision(strconv.FormatUint(s.revisions, 10))
	r.Value = bytes.Clone(r.Value)
	s.records = s.records.put(r.Key.String(), r)
	return r.Revision, nil
}

// ListRecords implements [table.Store]; its result is a snapshot.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, _ table.Consistency) ([]table.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	records := s.records
	s.mu.RUnlock()
	var list []table.Record
	prefix := table.TablesOf(account)
	for key, r := range records.from(prefix + from) {
		if len(list) == limit || !strings.HasPrefix(key, prefix) {
			break
		}
		r.Value = bytes.Clone(r.Value)
		list = append(list, r)
	}
	return list, nil
}

// Drop implements [table.Store]; the entities are gone when it returns.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records.get(key.String())
	if !ok || r.Revision != revision {
		return table.ErrRevision
	}
	if err := s.dropFeed(r.Incarnation, key); err != nil {
		return err
	}
	s.records = s.records.remove(key.String())
	delete(s.entities, r.Incarnation)
	return nil
}

// live returns the record of a table, or ErrNoTable. The caller holds mu.
func (s *Store) live(key table.RecordKey) (table.Record, error) {
	r, ok := s.records.get(key.String())
	if !ok {
		return table.Record{}, table.ErrNoTable
	}
	return r, nil
}

// snapshot is the state of a table at one moment.
type snapshot struct {
	rows   *tree[table.Row]
	traits *table.Traits
	now    edm.Ticks // set only if the table has options (traits)
}

func (s *Store) snapshot(ctx context.Context, key table.RecordKey) (v snapshot, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, err := s.live(key)
	if err != nil {
		return v, err
	}
	if v = (snapshot{rows: s.entities[r.Incarnation], traits: r.Traits}); v.traits != nil {
		v.now = s.clock.Instant()
	}
	return v, nil
}

// Declares implements [table.Declaring].
func (s *Store) Declares() (name string, expiry bool) { return "memory", true }

// Get implements [table.Store]. Every read is strongly consistent.
func (s *Store) Get(ctx context.Context, name table.RecordKey, k []byte, _ table.Consistency) (table.Row, error) {
	v, err := s.snapshot(ctx, name)
	if err != nil {
		return table.Row{}, err
	}
	row, ok := v.rows.get(string(k))
	if !ok || v.traits.Ended(&row, v.now) {
		return table.Row{}, table.ErrNoEntity
	}
	return clone(row), nil
}

// clone gives a row its own memory, since rows of the store share memory.
func clone(r table.Row) table.Row {
	r.Key, r.Properties = bytes.Clone(r.Key), bytes.Clone(r.Properties)
	return r
}

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.live(name)
	if err != nil {
		return 0, err
	}
	now, err := s.clock.Next()
	if err != nil {
		return 0, err
	}
	rows := s.entities[r.Incarnation]
	var line table.FeedLine
	for i, m := range m {
		k := string(m.Key)
		var old *table.Row
		if r, ok := rows.get(k); ok {
			old = &r
		}
		effect, err := r.Traits.Apply(old, m, now)
		switch {
		case err != nil:
			return 0, &table.Refused{Index: i, Err: err}
		case effect.Row == nil:
			rows = rows.remove(k)
		default:
			rows = rows.put(k, clone(*effect.Row))
		}
		if r.Traits.Feeds() && err == nil {
			line.Add(&m, &effect)
		}
	}
	s.entities[r.Incarnation] = rows
	if r.Traits.Feeds() {
		s.feeds[r.Incarnation].add(now, line.Bytes())
	}
	s.changes(now)
	return now, nil
}

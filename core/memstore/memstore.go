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

// Store keeps everything in memory. Several Services may share one.
type Store struct {
	clock *table.Clock // one for all tables: a name may move between incarnations

	mu        sync.RWMutex
	documents *tree[table.Document]
	entities  map[table.Incarnation]*tree[table.Row]
	revisions uint64 // issued so far
}

var _ table.Store = (*Store)(nil)

// New makes an empty store whose Timestamps follow now.
func New(now func() edm.Ticks) *Store {
	return &Store{
		clock:    table.NewClock(now, 0, nil),
		entities: make(map[table.Incarnation]*tree[table.Row]),
	}
}

// Strengths are all but Durable.
func (s *Store) Strengths() table.Strengths {
	return table.Strengths{
		Conditional:               true,
		AtomicCommit:              true,
		SnapshotPage:              true,
		Linearizable:              true,
		ExactDrop:                 true,
		TimestampsAcrossProcesses: true,
	}
}

// ReadDocument implements [table.Store].
func (s *Store) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	if err := ctx.Err(); err != nil {
		return table.Document{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, ok := s.documents.get(key)
	if !ok {
		return table.Document{}, table.ErrNoDocument
	}
	d.Value = bytes.Clone(d.Value)
	return d, nil
}

// WriteDocument implements [table.Store].
func (s *Store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, _ := s.documents.get(d.Key); old.Revision != d.Revision {
		return "", table.ErrRevision
	}
	s.revisions++
	d.Revision = table.Revision(strconv.FormatUint(s.revisions, 10))
	d.Key, d.Value = strings.Clone(d.Key), bytes.Clone(d.Value)
	s.documents = s.documents.put(d.Key, d)
	return d.Revision, nil
}

// ListDocuments implements [table.Store]; its answer is a snapshot.
func (s *Store) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	documents := s.documents
	s.mu.RUnlock()
	var list []table.Document
	for k, d := range documents.from(max(prefix, from)) {
		if len(list) == limit || !strings.HasPrefix(k, prefix) {
			break
		}
		d.Value = bytes.Clone(d.Value)
		list = append(list, d)
	}
	return list, nil
}

// Drop implements [table.Store]; entities that no other record names are gone
// when it returns.
func (s *Store) Drop(ctx context.Context, key string, revision table.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.documents.get(key)
	if !ok || d.Revision != revision {
		return table.ErrRevision
	}
	s.documents = s.documents.remove(key)
	for _, other := range s.documents.from("") {
		if other.Layout.Incarnation == d.Layout.Incarnation {
			return nil
		}
	}
	delete(s.entities, d.Layout.Incarnation)
	return nil
}

// live finds the incarnation of a table. The caller holds mu.
func (s *Store) live(name string) (table.Incarnation, error) {
	d, ok := s.documents.get(name)
	if !ok || d.Layout == (table.Layout{}) {
		return table.Incarnation{}, table.ErrNoTable
	}
	return d.Layout.Incarnation, nil
}

// snapshot is the entities of a table at this moment.
func (s *Store) snapshot(ctx context.Context, name string) (*tree[table.Row], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	life, err := s.live(name)
	return s.entities[life], err
}

// Get implements [table.Store]; both kinds of consistency are strong.
func (s *Store) Get(ctx context.Context, name string, k []byte, _ table.Consistency) (table.Row, error) {
	rows, err := s.snapshot(ctx, name)
	if err != nil {
		return table.Row{}, err
	}
	row, ok := rows.get(string(k))
	if !ok {
		return table.Row{}, table.ErrNoEntity
	}
	return clone(row), nil
}

// clone gives a row its own memory. Within the store rows share it.
func clone(r table.Row) table.Row {
	r.Key, r.Properties = bytes.Clone(r.Key), bytes.Clone(r.Properties)
	return r
}

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, name string, m []table.Mutation) (edm.Ticks, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	life, err := s.live(name)
	if err != nil {
		return 0, err
	}
	now, err := s.clock.Next()
	if err != nil {
		return 0, err
	}
	rows := s.entities[life]
	for i, m := range m {
		k := string(m.Key)
		var old *table.Row
		if r, ok := rows.get(k); ok {
			old = &r
		}
		row, err := table.Apply(old, m, now)
		switch {
		case err != nil:
			return 0, &table.Refused{Index: i, Err: err}
		case row == nil:
			rows = rows.remove(k)
		default:
			rows = rows.put(k, clone(*row))
		}
	}
	s.entities[life] = rows
	return now, nil
}

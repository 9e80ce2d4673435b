package pebblestore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// keyBuffers is a pool of *[]byte. Get and Commit build the full keys of entities in these buffers.
var keyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 256); return &b }}

// Get implements table.Store. Every read is strongly consistent, whatever the caller requests.
func (s *Store) Get(ctx context.Context, tbl table.RecordKey, k []byte, _ table.Consistency) (table.Row, error) {
	if err := ctx.Err(); err != nil {
		return table.Row{}, err
	}
	buf := keyBuffers.Get().(*[]byte)
	defer keyBuffers.Put(buf)
	for {
		l := s.tables.find(tbl)
		if l == nil {
			err := s.awaitAndReturn(ctx, s.catalog.last.Load(), table.ErrNoTable)
			if isShort(err) {
				return s.getDurable(tbl, k)
			}
			return table.Row{}, err
		}
		traits, now := l.traitsAndTime(s.journal.clock)
		full := l.appendKey((*buf)[:0], k)
		*buf = full
		row, err := read(s.db, full)
		if l.dropped.Load() {
			continue
		}
		// Wait for the commit that wrote the entity; its number is the entity's Timestamp. If there is no entity, wait
		// for the last commit of the stripe, which may have deleted it.
		n := int64(row.Timestamp)
		if errors.Is(err, table.ErrNoEntity) {
			n = s.stripe(full).last.Load()
		}
		if w := s.journal.wait(ctx, max(n, s.catalog.last.Load())); isShort(w) {
			return s.getDurable(tbl, k)
		} else if w != nil {
			return table.Row{}, w
		}
		if err == nil && traits.Ended(&row, now) {
			return table.Row{}, table.ErrNoEntity
		}
		return row, err
	}
}

// Commit implements table.Store.
func (s *Store) Commit(ctx context.Context, tbl table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.backlog.Wait(ctx, s.disk); err != nil {
		return 0, err
	}
	if err := s.checkSpace(m); err != nil {
		return 0, err
	}
	begin := time.Now()
	buf := keyBuffers.Get().(*[]byte)
	defer keyBuffers.Put(buf)
	for {
		l := s.tables.find(tbl)
		if l == nil {
			return 0, s.awaitAndReturn(ctx, s.catalog.last.Load(), table.ErrNoTable)
		}
		*buf = l.appendKey((*buf)[:0], m[0].Key)
		st := s.stripe(*buf)
		st.Lock()
		if l.dropped.Load() {
			st.Unlock()
			continue
		}
		b, e, err := s.applyMutations(l, st, m, buf)
		st.Unlock()
		if err != nil {
			return 0, s.awaitAndReturn(ctx, max(st.last.Load(), s.catalog.last.Load()), err)
		}
		if err := s.awaitDurable(b, e); err != nil {
			return 0, err
		}
		if l.traits.Load().Feeds() {
			l.news.Announce(int64(e.number))
		}
		if s.committed != nil {
			s.committed(time.Since(begin))
		}
		return e.number, nil
	}
}

// rowHead is the length in bytes of a stored entity without properties.
var rowHead = len(table.AppendRow(nil, new(table.Row)))

// applyMutations reads the old entities, checks the conditions and applies the mutations. The stripe st must be held.
func (s *Store) applyMutations(l *liveTable, st *stripe, m []table.Mutation, buf *[]byte) (*pebble.Batch, *entry, error) {
	defer s.exitOnPanic()
	u := undo{stripe: st, liveTable: l, mutations: m}
	keep := s.disk.IsLow()
	olds, done, err := s.readOld(l, m, buf, keep)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if keep {
		u.olds = olds
	}
	// The commit gets its number only after the slow reads, because replies wait until all numbered commits are
	// durable.
	e, err := s.journal.register(u)
	if err != nil {
		return nil, nil, err
	}
	b, err := s.batch(l, m, olds, e.number)
	if err == nil {
		st.last.Store(int64(e.number))
		err = s.apply(b, e)
	}
	if err != nil {
		s.journal.cancel(e)
		return nil, nil, err
	}
	return b, e, nil
}

func (s *Store) batch(l *liveTable, m []table.Mutation, olds []oldState, now edm.Ticks) (*pebble.Batch, error) {
	size := 64
	for i := range m {
		size += len(m[i].Key) + len(m[i].Properties) + 64
	}
	traits := l.traits.Load()
	if traits.Feeds() {
		for i := range m {
			size += len(m[i].Key) + 16
		}
		size += 64
	}
	b := s.db.NewBatchWithSize(size)
	var line table.FeedLine
	for i := range m {
		var before *table.Row
		if olds[i].exists {
			before = &olds[i].row
		}
		effect, err := traits.Apply(before, m[i], now)
		if err != nil {
			b.Close()
			return nil, &table.Refused{Index: i, Err: err}
		}
		if traits.Feeds() {
			line.Add(&m[i], &effect)
		}
		if row := effect.Row; row == nil {
			op := b.DeleteDeferred(layout.PrefixLength + len(m[i].Key))
			l.appendKey(op.Key[:0], m[i].Key)
			err = op.Finish()
		} else {
			op := b.SetDeferred(layout.PrefixLength+len(m[i].Key), rowHead+len(row.Properties))
			l.appendKey(op.Key[:0], m[i].Key)
			table.AppendRow(op.Value[:0], row)
			err = op.Finish()
		}
		if err != nil {
			b.Close()
			return nil, err
		}
	}
	if traits.Feeds() {
		if err := addLine(b, l.incarnation, now, line.Bytes()); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

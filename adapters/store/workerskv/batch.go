package workerskv

import (
	"bytes"
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// batch is a turn of a journal: what waits is written into it by one put, or not
// at all.
type batch struct {
	store    *Store
	name     string // of the journal
	entities string // what the names of entities begin with

	journal *journal
	now     edm.Ticks
	changed bool
	read    map[string][]byte // cells by key, as they were read
}

// moves is how many rows a turn writes where they belong, and manyMoves where the
// journal gets large. Each takes two calls, one after the other, and a turn ends
// within a request.
const (
	moves     = 25
	manyMoves = 100
)

func (b *batch) write(ctx context.Context, jobs []*job) bool {
	s := b.store
	var err error
	if b.journal, err = s.latest(ctx, b.name); err != nil {
		fail(jobs, err)
		return false
	}
	b.now = s.o.Now()
	b.read = make(map[string][]byte)
	b.tidy(ctx)
	if err := b.prefetch(ctx, jobs); err != nil {
		fail(jobs, err)
		return false
	}
	var stamp edm.Ticks
	for _, j := range jobs {
		if j.stamp, j.err = b.apply(ctx, j); j.err == nil {
			stamp, b.changed = j.stamp, true
		}
	}
	if !b.changed {
		return false
	}
	if stamp == 0 {
		stamp = s.clock.after(0)
	}
	var body []byte
	if len(b.journal.rows) > 0 {
		body = b.journal.encode(stamp)
	}
	if err := s.put(ctx, b.name, stamp, body); err != nil {
		for _, j := range jobs {
			if !errors.Is(j.err, errElsewhere) {
				j.stamp, j.err = 0, err
			}
		}
	}
	return true
}

// tidy writes rows that are due where they belong, and leaves out those that
// everybody sees there. That they were written need not be recorded: to write them
// again changes nothing.
func (b *batch) tidy(ctx context.Context) {
	written, most := 0, moves
	if b.journal.size > maxJournal/2 {
		most = manyMoves
	}
	for _, k := range b.journal.keys() {
		r := b.journal.rows[k]
		switch {
		case !r.due(b.now):
		case r.written > 0:
			b.journal.remove(k)
			b.changed = true
		case written < most:
			if b.move(ctx, k, r) != nil {
				return // it stays in the journal for another time
			}
			written++
			r.written = b.now
			b.journal.set(k, r)
			b.changed = true
		}
	}
}

// move writes a row where it belongs, unless it was written there since.
func (b *batch) move(ctx context.Context, k string, r journalRow) error {
	name := nameOf(b.entities, []byte(k))
	if err := b.store.cells.known(name); err != nil {
		return err
	}
	cell, err := b.store.cells.get(ctx, name)
	if err != nil || cell != nil && stampOf(cell) >= r.stamp() || cell == nil && r.gone {
		return err
	}
	if r.gone {
		cell = nil
	} else {
		cell = bytes.Clone(r.cell) // not to remember all of the journal
	}
	drop := b.store.cells.memory.hold(name, len(cell))
	if drop == nil {
		return table.ErrBusy
	}
	defer drop()
	return b.store.cells.put(ctx, name, r.stamp(), cell)
}

// apply applies one job to the journal, all of it or nothing.
func (b *batch) apply(ctx context.Context, j *job) (edm.Ticks, error) {
	m := j.mutations
	if r, ok := b.journal.rows[string(m[0].Key)]; !j.forced && !(ok && (r.fresh(b.now) || m[0].Kind == table.Delete)) {
		return 0, errElsewhere
	}
	rows := make([]journalRow, len(m))
	var floor edm.Ticks
	olds := make([][]byte, len(m))
	for i := range m {
		old, high, err := b.state(ctx, &m[i])
		if err != nil {
			return 0, err
		}
		olds[i], floor = old, max(floor, high)
	}
	now := b.store.clock.after(floor)
	size := b.journal.size
	for i := range m {
		body, err := b.store.apply(olds[i], &m[i], now)
		if err != nil {
			return 0, &table.Refused{Index: i, Err: err}
		}
		rows[i] = journalRow{gone: body == nil, cell: body, since: b.journal.rows[string(m[i].Key)].since}
		if body == nil {
			rows[i].cell = appendStamp(nil, now)
		}
		if len(m) > 1 {
			rows[i].since = now
		}
		size += journalRowSize + len(m[i].Key) + len(rows[i].cell)
	}
	if size > maxJournal || !b.store.cells.memory.room(b.name, size) {
		return 0, table.ErrBusy // until rows are moved out of it, or what was written is settled
	}
	for i := range m {
		b.journal.set(string(m[i].Key), rows[i])
	}
	return now, nil
}

// state is what there is of an entity, nil if nothing, and the highest Timestamp
// known of it.
func (b *batch) state(ctx context.Context, m *table.Mutation) ([]byte, edm.Ticks, error) {
	k := string(m.Key)
	var row *journalRow
	if r, ok := b.journal.rows[k]; ok {
		row = &r
	}
	if !b.reads(m) {
		cell, high := newer(nil, row)
		return cell, high, nil
	}
	name := nameOf(b.entities, m.Key)
	if err := b.store.cells.known(name); err != nil {
		return nil, 0, err
	}
	cell, ok := b.read[k]
	if !ok {
		var err error
		if cell, err = b.store.cells.get(ctx, name); err != nil {
			return nil, 0, err
		}
		b.read[k] = cell
	}
	cell, high := newer(cell, row)
	return cell, high, nil
}

// reads reports whether a mutation depends on more than the journal has: where a
// transaction is fresh it has the newest state.
func (b *batch) reads(m *table.Mutation) bool {
	r, ok := b.journal.rows[string(m.Key)]
	if !ok {
		return !blind(m)
	}
	return !r.fresh(b.now)
}

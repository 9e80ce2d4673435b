package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Store is a table.Store on a namespace alone. Use [New].
type Store struct {
	o       Options
	cells   cells
	clock   clock
	turns   turns
	records records
}

var _ table.Store = (*Store)(nil)

// New makes a store. It calls nothing. An isolate has one for all it serves: what
// it remembers of its writes is what it sees of them at once.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Store{
		o:       o,
		cells:   cells{ns: o.Namespace, memory: newMemory(o.Now, o.Memory), alone: o.SingleWriter},
		clock:   clock{now: o.Now},
		turns:   turns{now: o.Now, pause: o.Pause, patience: o.Patience, interval: ticks(o.Interval), slots: make(map[string]*slot), partitions: make(map[string]*partition)},
		records: records{now: o.Now, seen: make(map[string]recent)},
	}, nil
}

// Get implements [table.Store]. Of either consistency it is eventual, but for
// what this isolate wrote.
func (s *Store) Get(ctx context.Context, name table.RecordKey, k []byte, _ table.Consistency) (table.Row, error) {
	life, err := s.life(ctx, name)
	if err != nil {
		return table.Row{}, err
	}
	if len(k) > MaxKey {
		return table.Row{}, table.ErrNoEntity
	}
	var row *journalRow
	if s.o.SingleWriter {
		// Before the entity: what is in its own cell was in the journal before.
		j, err := s.journal(ctx, journalOf(life, k))
		if err != nil {
			return table.Row{}, err
		}
		if r, ok := j.rows[string(k)]; ok {
			r.cell = bytes.Clone(r.cell) // the others are not the caller's
			row = &r
		}
	}
	cell, err := s.cells.get(ctx, nameOf(entities(life), k))
	if err != nil {
		return table.Row{}, err
	}
	if cell, _ = newer(cell, row); cell == nil {
		return table.Row{}, table.ErrNoEntity
	}
	return table.ParseRow(bytes.Clone(k), cell)
}

// Scan implements [table.Store]; see Get.
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	life, err := s.life(ctx, name)
	if err != nil {
		return table.Page{}, err
	}
	sc := scanner{cells: &s.cells, life: life, journaled: s.o.SingleWriter, request: r, budget: budget{calls: s.o.Calls}}
	return sc.scan(ctx)
}

// journal reads a journal, whose cells are read-only.
func (s *Store) journal(ctx context.Context, name string) (*journal, error) {
	body, _, err := s.cells.view(ctx, name)
	if err != nil {
		return nil, err
	}
	return decodeJournal(body)
}

// latest is the journal for a writer, who knows what became of the last write.
func (s *Store) latest(ctx context.Context, name string) (*journal, error) {
	if err := s.cells.known(name); err != nil {
		return nil, err
	}
	return s.journal(ctx, name)
}

// put writes a cell. Only a single writer tries again when it is not known
// whether it was written: nobody can have written since. It writes nothing that it
// has no room to remember, nor behind the end of ctx.
func (s *Store) put(ctx context.Context, name string, stamp edm.Ticks, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.o.SingleWriter {
		drop := s.cells.memory.hold(name, len(body))
		if drop == nil {
			return table.ErrBusy
		}
		defer drop()
	}
	err := s.cells.put(ctx, name, stamp, body)
	for range 2 {
		if err == nil || !s.o.SingleWriter || ctx.Err() != nil {
			break
		}
		refused := isRefused(err)
		s.o.Pause(ctx, s.o.Interval)
		if ctx.Err() != nil {
			break
		}
		again := s.cells.put(ctx, name, stamp, body)
		if !refused && again != nil && isRefused(again) {
			continue // the first may have been written all the same
		}
		err = again
	}
	if err == nil {
		return nil
	}
	if s.o.SingleWriter && !isRefused(err) {
		s.cells.memory.doubt(name)
	}
	return writeError(err)
}

package dynamodb

import (
	"context"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// changeRecord changes where a table is, in one transaction with notes of the places
// that are left: nothing else names them. Every change is on condition of all that it
// replaces, so a copy of it that arrives late does nothing.
func (s *Store) changeRecord(ctx context.Context, key table.RecordKey, change func(rebucket.Location) (rebucket.Location, error)) error {
	return s.db.Retry(ctx, call.Reread, func(ctx context.Context) error {
		r, err := s.tableRecord(ctx, key)
		if err != nil {
			return err
		}
		to, err := change(r.Location)
		if err != nil || to == r.Location {
			return err
		}
		actions := []call.Action{s.moveAction(r, to)}
		for _, left := range []rebucket.Place{r.Place, r.Target} {
			if left != (rebucket.Place{}) && left != to.Place && left != to.Target {
				actions = append(actions, s.notePurge(&record{Record: table.Record{Key: key}}, left))
			}
		}
		err = s.db.Transact(ctx, actions)
		if to.Place != r.Place {
			s.leases.forget(key)
		}
		return err
	})
}

// moveAction writes what differs between two states of a record. When a move begins
// or ends, the Revision changes, so that no such state comes again.
func (s *Store) moveAction(r *record, to rebucket.Location) call.Action {
	var e call.Expression
	e.If(attrRevision, "=", ":r", str(string(r.Revision)))
	e.If(attrIncarnation, "=", ":i", bin(r.Place.Incarnation[:]))
	was := moveItem(r.Move)
	for _, attr := range []string{attrTarget, attrOwner, attrSeal, attrBeat} {
		if v, ok := was[attr]; ok {
			e.If(attr, "=", ":"+attr[1:], v)
		} else {
			e.IfMissing(attr)
		}
	}
	if to.Place != r.Place {
		e.SetDefault(attrOrigin, ":i", bin(r.Place.Incarnation[:]))
		e.Set(attrIncarnation, ":I", bin(to.Place.Incarnation[:]))
		e.Set(attrBuckets, ":K", num(to.Place.Buckets))
	}
	if to.None() {
		e.Set(attrRevision, ":R", str(string(s.newRevision())))
	}
	var gone []string
	is := moveItem(to.Move)
	for _, attr := range []string{attrTarget, attrSpread, attrOwner, attrSeal, attrBeat} {
		if v, ok := is[attr]; ok {
			e.Set(attr, ":"+string(attr[1]-'a'+'A'), v)
		} else if _, ok := was[attr]; ok {
			gone = append(gone, attr)
		}
	}
	if gone != nil {
		e.Remove(gone...)
	}
	return s.db.Update(recordKey(r.Key), &e)
}

// moveItem are the attributes of a move.
func moveItem(m rebucket.Move) item {
	it := make(item)
	if !m.None() {
		it[attrTarget], it[attrSpread] = bin(m.Target.Incarnation[:]), num(m.Target.Buckets)
	}
	if m.Owner != "" {
		it[attrOwner] = str(m.Owner)
	}
	if m.Seal != rebucket.Open {
		it[attrSeal], it[attrBeat] = num(int(m.Seal)), num(m.Beat)
	}
	return it
}

// Rebucket spreads a table over another number of buckets. See package
// rebucket.
func (s *Store) Rebucket(ctx context.Context, key table.RecordKey, o rebucket.Options) error {
	return rebucket.Run(ctx, rebucket.Env{
		Store: mover{s}, Elapsed: s.elapsed, Sleep: s.sleep, Rand: s.rand,
		Grace: max(s.leases.length, defaultLease) + leaseMargin, Deadline: s.deadline,
	}, key, o)
}

// mover implements [rebucket.Store].
type mover struct{ s *Store }

func (m mover) Change(ctx context.Context, key table.RecordKey, change func(rebucket.Location) (rebucket.Location, error)) error {
	return m.s.changeRecord(ctx, key, change)
}

var onlyHeads = call.NewProjection(attrSort, attrTicks, attrNonce, attrSize, attrChunks)

func (m mover) Heads(ctx context.Context, p rebucket.Place, bucket uint16, start []byte, rows int) (page []rebucket.Head, next []byte, err error) {
	found, err := m.s.db.Query(ctx, call.Query{Hash: hashKey(kindEntity, p, bucket), First: start, Rows: rows, Only: onlyHeads})
	if err != nil {
		return nil, nil, err
	}
	page = make([]rebucket.Head, len(found.Items))
	for i, it := range found.Items {
		if page[i], err = readHead(it); err != nil {
			return nil, nil, err
		}
	}
	if found.Next != nil {
		next = append(found.Next, 0)
	}
	return page, next, nil
}

func (m mover) Copy(ctx context.Context, key table.RecordKey, l rebucket.Location, d []rebucket.Difference, alive func(context.Context) error) (done rebucket.Copied, err error) {
	err = m.s.db.Retry(ctx, call.Once, func(ctx context.Context) error {
		t := transfer{Store: m.s, from: l.Place, to: l.Target, alive: alive}
		err := t.gather(ctx, key, &l, d)
		if err == nil {
			err = t.send(ctx)
		}
		t.settle(ctx, err)
		done = t.Copied
		return err
	})
	return done, err
}

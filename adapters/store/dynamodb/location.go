package dynamodb

import (
	"context"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// changeRecord changes the location of a table, if the stored location is still the location that was read. If the new
// location lacks an incarnation of the old location, the same transaction writes a note that makes Purge remove the
// incarnation.
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
		for _, left := range []rebucket.Spread{r.Spread, r.Target} {
			if left != (rebucket.Spread{}) && left != to.Spread && left != to.Target {
				actions = append(actions, s.notePurge(&record{Record: table.Record{Key: key}}, left))
			}
		}
		err = s.db.Transact(ctx, actions)
		if to.Spread != r.Spread {
			s.leases.remove(key)
		}
		return err
	})
}

// moveAction returns the action that replaces the stored location of a table by another. When a move ends, the record
// also gets a new random revision, so that a late update of this move cannot apply to a later move.
func (s *Store) moveAction(r *record, to rebucket.Location) call.Action {
	var e call.Expression
	e.If(attrRevision, "=", ":r", attribute.String(string(r.Revision)))
	e.If(attrIncarnation, "=", ":i", attribute.Binary(r.Spread.Incarnation[:]))
	was := moveItem(r.Move)
	for _, attr := range []string{attrTarget, attrOwner, attrSeal, attrBeat} {
		if v, ok := was[attr]; ok {
			e.If(attr, "=", ":"+attr[1:], v)
		} else {
			e.IfMissing(attr)
		}
	}
	if to.Spread != r.Spread {
		e.SetDefault(attrOrigin, ":i", attribute.Binary(r.Spread.Incarnation[:]))
		e.Set(attrIncarnation, ":I", attribute.Binary(to.Spread.Incarnation[:]))
		e.Set(attrBuckets, ":K", attribute.Number(to.Spread.Buckets))
	}
	if to.None() {
		e.Set(attrRevision, ":R", attribute.String(string(s.newRevision())))
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

func moveItem(m rebucket.Move) item {
	it := make(item)
	if !m.None() {
		it[attrTarget], it[attrSpread] = attribute.Binary(m.Target.Incarnation[:]), attribute.Number(m.Target.Buckets)
	}
	if m.Owner != "" {
		it[attrOwner] = attribute.String(m.Owner)
	}
	if m.Seal != rebucket.Open {
		it[attrSeal], it[attrBeat] = attribute.Number(int(m.Seal)), attribute.Number(m.Beat)
	}
	return it
}

var droppedHash = []byte{kindDropped}

// notePurge returns the action that writes a note about an incarnation that Purge must remove. Purge waits for
// litterAge, after which no operation uses the incarnation. It also frees the name of a dropped table.
func (s *Store) notePurge(r *record, l rebucket.Spread) call.Action {
	it := call.Key(droppedHash, l.Incarnation[:])
	it[attrDue] = attribute.Number(s.now() + litterAge)
	it[attrRecord] = attribute.String(r.Key.String())
	if r.deleting {
		it[attrRevision] = attribute.String(string(r.Revision))
	}
	it[attrBuckets] = attribute.Number(l.Buckets)
	return s.db.Put(it, new(call.Expression))
}

package table

import (
	"context"
	"errors"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// upkeepBytes is the number of bytes that one step of upkeep examines.
const upkeepBytes = 1 << 20

// Upkeep runs the next step of a pass that TakeUpkeep returned: it examines about 1 MiB and removes at most 1000
// expired entities, in commits of up to 100. finished means that the pass is finished.
//
// The caller may repeat a step after an error, and may run several passes over one table at once.
func (s *Service) Upkeep(ctx context.Context, u *Upkeep) (finished bool, err error) {
	finished, err = s.step(ctx, u)
	if err != nil {
		return false, err
	}
	return s.keepUpkeep(ctx, u, finished)
}

func (s *Service) step(ctx context.Context, u *Upkeep) (done bool, err error) {
	k := u.Table.Key()
	r, err := s.store.ReadRecord(ctx, k, Strong)
	if errors.Is(err, ErrNoRecord) {
		return true, nil
	}
	now := s.now()
	if err != nil || r.Traits == nil || r.Traits.Ending == nil && !r.Traits.isPastUndoTime(now-undoMargin) {
		return true, err
	}
	if u.from == nil || u.incarnation != r.Incarnation { // the pass is new, or the table was dropped and created again
		*u = Upkeep{Table: u.Table, Removed: u.Removed, Behind: u.Behind, incarnation: r.Incarnation, began: now, due: u.due, owing: u.owing}
	}
	page, err := s.store.Scan(ctx, k, ScanRequest{
		Ranges:    key.From(odata.MakePlan(nil).Ranges, u.from),
		Ended:     true,
		Rows:      MaxPageRows,
		Bytes:     s.budget.Bytes,
		ScanBytes: upkeepBytes,
	})
	if err != nil {
		return false, err
	}
	u.scanned += page.Scanned
	if page.Recycle != nil {
		defer page.Recycle()
	}
	for i := range page.Rows {
		u.Behind = max(u.Behind, now-max(r.Traits.removableAt(&page.Rows[i]), u.owing))
	}
	for rows := page.Rows; len(rows) > 0; {
		n := 1
		for n < min(len(rows), MaxBatchOperations) && string(key.Partition(rows[n].Key)) == string(key.Partition(rows[0].Key)) {
			n++
		}
		if err := s.expire(ctx, u, rows[:n]); err != nil {
			return false, err
		}
		rows = rows[n:]
	}
	if u.from = page.Next; u.from != nil {
		return false, nil
	}
	if e := r.Traits.Ending; e != nil && !u.left && u.began > e.Until {
		err = s.forgetEnding(ctx, k, e)
	}
	return true, err
}

// expire removes expired entities of one partition. It leaves an entity that was written after the scan.
func (s *Service) expire(ctx context.Context, u *Upkeep, rows []Row) error {
	m := make([]Mutation, len(rows))
	for i := range rows {
		m[i] = Mutation{Key: rows[i].Key, Kind: Expire, Condition: Unchanged, IfMatch: rows[i].Timestamp}
	}
	for len(m) > 0 {
		_, err := s.store.Commit(ctx, u.Table.Key(), m)
		switch refused, ok := errors.AsType[*Refused](err); {
		case ok:
			u.left = u.left || !errors.Is(refused, ErrNoEntity) // ErrNoEntity means that the entity has already been removed
			m = slices.Delete(m, refused.Index, refused.Index+1)
		case errors.Is(err, ErrNoTable):
			return nil
		case err != nil:
			return err
		default:
			u.Removed += len(m)
			return nil
		}
	}
	return nil
}

// removableAt returns the earliest instant at which an expired entity can be removed.
func (t *Traits) removableAt(row *Row) edm.Ticks {
	if e := t.Ending; e != nil && (t.Expiry == nil || e.hasExpired(row, e.Until)) {
		return e.Until
	}
	at, _ := t.Expiry.ExpiresAt(row.Timestamp, row.Properties)
	return max(at, row.Timestamp, t.Expiry.Since+RemoveTime)
}

// forgetEnding removes the withdrawn rule e from the table's traits. All entities that expired under the rule must have
// been removed.
func (s *Service) forgetEnding(ctx context.Context, k RecordKey, e *Expiry) error {
	return s.updateRecord(ctx, k, func(r *Record) error {
		if r.Traits == nil || !r.Traits.Ending.equal(e) {
			return errUnchanged
		}
		next := *r.Traits
		next.Ending = nil
		r.Traits = next.orNil()
		return nil
	})
}

// TablesWithTraits returns the tables of an account that have traits.
func (s *Service) TablesWithTraits(ctx context.Context, account string) (list []Name, err error) {
	const limit = MaxPageRows + 1
	for from := ""; ; {
		records, err := s.store.ListRecords(ctx, account, from, limit, Strong)
		if err != nil {
			return nil, err
		}
		for i := range records {
			if r := &records[i]; r.Traits != nil {
				list = append(list, Name{account, r.Key.Table})
			}
		}
		if len(records) < limit {
			return list, nil
		}
		from = records[len(records)-1].Key.Table + "\x00"
	}
}

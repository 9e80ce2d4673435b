package durableobject

import (
	"context"
	"errors"
	"strconv"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// History is the address at which an object requests its own earlier states from the platform. It is not an object: the
// JavaScript shell around the calling object answers.
//
//   - An empty message requests the platform's bookmark of the present state.
//   - A time requests the bookmark of that time.
//   - A time and a bookmark make the object terminate and wake up in the state of the bookmark.
var History = Address{Name: "history"}

// Restore implements [table.Restoring]. The catalog stores the progress of the restore, so a later call can continue an
// unfinished restore.
func (s *Store) Restore(ctx context.Context, t table.RecordKey, to edm.Ticks) ([]byte, error) {
	d, err := s.ReadRecord(ctx, t, table.Strong)
	if errors.Is(err, table.ErrNoRecord) {
		err = table.ErrNoTable
	}
	if err == nil && to != table.UndoRestore {
		err = checkRestoreTime(to, s.o.Now(), d.Revision.Written())
	}
	if err != nil {
		return nil, err
	}
	begin := restoring.Restore{ID: s.o.Rand() | 1, Undo: to == table.UndoRestore, To: to, StartedAt: s.o.Now()}
	for i := range begin.NewIncarnation {
		begin.NewIncarnation[i] = byte(s.o.Rand())
	}
	p := s.objectAt(t.String(), 0, nil)
	where := message.Layout{Buckets: p.Buckets, Location: p.Location}
	r, err := s.advanceRestore(ctx, t, &begin)
	if err != nil {
		return nil, err
	}
	for tries := 0; ; {
		switch r.Phase {
		case restoring.Finished:
			return restoreReport(r, nil, table.RestoreEnded), nil
		case restoring.Cancelled:
			if begin.Undo && !r.Undo {
				return restoreReport(r, nil, table.RestoreEnded), nil
			}
			return nil, table.NotImplemented.With(r.Reason)
		}
		phase := r.Phase
		errs := s.runPhase(ctx, t, where, r)
		if r, err = s.advanceRestore(ctx, t, r); err != nil {
			return nil, err
		}
		if r.Phase != phase {
			tries = 0
			continue
		}
		if tries++; tries == s.o.Attempts || phase == restoring.Telling || !s.pauseForRetry(ctx, tries) {
			state := table.RestoreUnfinished
			if phase == restoring.Settling || phase == restoring.Telling {
				state = table.RestoreWaits + " 5" // the restore is not finished: the replica has not learned of it yet
			}
			return restoreReport(r, errs, state), nil
		}
	}
}

// advanceRestore reports the progress of a restore to the catalog, and returns the new state that the
// catalog stores.
func (s *Store) advanceRestore(ctx context.Context, t table.RecordKey, r *restoring.Restore) (*restoring.Restore, error) {
	fields, err := s.send(ctx, s.catalog(t.Account), restoring.Tell(nil, t.String(), r))
	if refused, ok := errors.AsType[*table.Refused](err); ok {
		return nil, refused.Err
	}
	if err != nil {
		return nil, err
	}
	next, ok := restoring.Read(fields)
	switch {
	case !ok:
		return nil, message.ErrDamaged
	case r.Phase != 0 && next.ID != r.ID:
		return nil, table.ErrBusy // another call has finished the restore
	}
	return next, nil
}

// runPhase tells each object to do its part of the current phase, and marks the objects that have done it. It returns
// the errors of the other objects.
func (s *Store) runPhase(ctx context.Context, t table.RecordKey, where message.Layout, r *restoring.Restore) map[message.Object]error {
	var calls []Call
	var which []*restoring.Returned
	for i := range r.Objects {
		if o := &r.Objects[i]; !o.Done && r.Phase != restoring.Telling {
			p := destinationOf(t, &where, o.Object)
			calls = append(calls, Call{AddressOf(&p), message.Obey(nil, &p)})
			which = append(which, o)
		}
	}
	answers, failed := s.askAll(ctx, calls)
	errs := make(map[message.Object]error)
	var said *table.Error
	for i, o := range which {
		refused, never := errors.AsType[*table.Refused](failed[i])
		switch {
		case failed[i] == nil && r.Phase == restoring.Freezing:
			state, before, high := answers[i].Found()
			if o.Done = answers[i].Done(); o.Done {
				o.State, o.FrozenState, r.High = state, before, max(r.High, high)
			}
		case failed[i] == nil:
			o.Done = true
		case never && r.Phase <= restoring.Returning:
			if r.Reason = refused.Err.Error(); errors.As(refused.Err, &said) {
				r.Reason = said.Message
			}
		}
		if !o.Done {
			errs[o.Object] = failed[i]
		}
	}
	return errs
}

// restoreReport returns the report of a restore: one line with the result of each object, then a line with the state of
// the restore.
func restoreReport(r *restoring.Restore, errs map[message.Object]error, state string) (did []byte) {
	for i := range r.Objects {
		o := &r.Objects[i]
		did = strconv.AppendUint(did, uint64(o.Bucket), 10)
		if o.Range != 0 {
			did = strconv.AppendUint(append(did, '/'), uint64(o.Range), 10)
		}
		became := table.Restored
		if err := errs[o.Object]; err != nil {
			became = err.Error()
		} else if !o.Returns {
			became = table.Removed
		}
		did = append(append(append(did, ' '), became...), '\n')
	}
	return append(append(did, state...), '\n')
}

// checkRestoreTime returns an error if a table cannot be restored to a time. The time must be after the last write of
// the table's record, because before that write, the objects may have stored an earlier table.
func checkRestoreTime(to, now, written edm.Ticks) error {
	reason := ""
	switch {
	case to > now-restoring.Inexact:
		reason = "The time to restore must be at least a minute in the past; the time is now "
	case to < now-restoring.Kept:
		reason = "The time to restore must be in the last 30 days, for which the platform keeps states; the time is now "
	case to < written+restoring.Inexact:
		reason = "The time to restore must be at least a minute after the table was made, and after its access policies were changed. The table was made or its policies were last changed at "
		now = written
	default:
		return nil
	}
	return table.OutOfRangeInput.With("One of the request inputs is out of range. Nothing was changed. " + reason + now.String())
}

// objects returns the layout of a table and the objects that serve it.
func (s *Store) objects(ctx context.Context, t table.RecordKey) (where message.Layout, list []message.Object, err error) {
	r, err := s.send(ctx, s.catalog(t.Account), message.Key(nil, message.OpObjects, t.String()))
	if err != nil {
		return where, nil, err
	}
	if where, list = r.Layout(), r.Objects(); !r.Done() {
		err = message.ErrDamaged
	}
	return where, list, err
}

func destinationOf(t table.RecordKey, where *message.Layout, o message.Object) message.Destination {
	return message.Destination{Table: t.String(), Buckets: where.Buckets, Bucket: o.Bucket, Location: where.Location, Range: o.Range}
}

// askAll makes calls to objects, fanOut at a time, and retries the calls whose answers were lost.
func (s *Store) askAll(ctx context.Context, calls []Call) (answers []message.Reader, errs []error) {
	for len(calls) > 0 {
		n := min(len(calls), fanOut)
		for i, answer := range s.o.Caller.Call(ctx, calls[:n]) {
			var r message.Reader
			err := answer.Err
			if err == nil {
				r, err = s.result(answer.Message, false, false)
			} else {
				r, err = s.send(ctx, calls[i].To, calls[i].Message)
			}
			if needsRetry(err) {
				err = table.ErrBusy // the object has handed over its keys in the meantime
			}
			answers, errs = append(answers, r), append(errs, err)
		}
		calls = calls[n:]
	}
	return answers, errs
}

package dynamodb

import (
	"context"
	"slices"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The functions in this file find out from a failed Commit which states are stored.

// learnStates finds out which stored states made a call fail, and pins actions to them. It returns the refusal with the
// lowest index, or nil if the write should be retried.
func (w *write) learnStates(ctx context.Context, cause error, now edm.Ticks) error {
	found, failed, err := w.findFailed(ctx, cause, now)
	if err != nil {
		return err
	}
	var pinned []*action
	decided := undecided(cause, len(w.actions))
	for i := range decided {
		if !failed[i] {
			continue
		}
		a, e := &w.actions[i], found[i]
		if e != nil {
			w.clock.Raise(e.Timestamp)
		}
		if p := a.pending; p != nil {
			a.pending = nil
			w.finish(ctx, p, p.new)
		}
		a.old, a.pinned = nil, false
		switch {
		case w.traits != nil: // Each attempt must check whether the entity has expired, so the action must be pinned.
			w.pin(a, e)
			pinned = append(pinned, a)
		case !a.allows(e):
			w.pin(a, e) // The stored entity does not meet the condition of the action, so the loop below returns a refusal.
		case a.needsOldState() && !a.isWithinLimits(e, w.inline), e != nil && !e.chunks.none():
			w.pin(a, e)
			pinned = append(pinned, a)
		}
	}
	if !slices.Contains(failed, true) {
		return cause
	}
	// Only the first refusal is returned. The chunks are loaded before the actions are checked in order, because
	// properties in chunks may cause a refusal.
	if err := w.complete(ctx, pinned); err != nil {
		return err
	}
	for i := range decided {
		if a := &w.actions[i]; a.pinned {
			if err := a.apply(w.traits, now); err != nil {
				return &table.Refused{Index: i, Err: err}
			}
		}
	}
	return nil
}

// undecided returns the index of the first of n actions that conflicted with another transaction, or n if there is
// none. DynamoDB did not check the condition of this action, so failures of later actions must not be reported yet.
func undecided(cause error, n int) int {
	reasons := call.Reasons(cause)
	for i := range reasons[:min(n, len(reasons))] {
		if !call.ConditionHeld(&reasons[i]) && !call.ConditionFailed(&reasons[i]) {
			return i
		}
	}
	return n
}

// findFailed reports for each action whether its condition failed, and returns the stored entities of these actions. It
// reads these entities if the error does not contain them.
func (w *write) findFailed(ctx context.Context, cause error, now edm.Ticks) (found []*stored, failed []bool, err error) {
	found, failed = make([]*stored, len(w.actions)), make([]bool, len(w.actions))
	read := func(i int, it item) {
		if failed[i] = true; len(it) > 0 && err == nil {
			found[i], err = readEntity(it)
		}
	}
	switch reasons := call.Reasons(cause); {
	case call.ClassOf(cause) == call.Unreadable:
		all := make([]*action, len(w.actions))
		for i := range all {
			all[i] = &w.actions[i]
		}
		var there map[string]*stored
		if there, err = w.entities(ctx, all); err == nil {
			for i, a := range all {
				found[i] = there[string(a.m.Key)]
				failed[i] = w.traits != nil && !a.pinned || !a.conditionHolds(found[i], w.inline, now)
			}
		}
	case reasons != nil:
		for i := range min(len(found), len(reasons)) {
			if call.ConditionFailed(&reasons[i]) {
				read(i, reasons[i].Item)
			}
		}
	default:
		read(0, call.OldItem(cause))
	}
	return found, failed, err
}

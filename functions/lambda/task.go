package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// store contains the methods of *dynamodb.Store that tasks use.
type store interface {
	// Purge removes items of deleted tables.
	Purge(ctx context.Context, report func(dynamodb.Progress) error) error
	// Declared returns the tables that have options, such as an expiry rule.
	Declared(ctx context.Context) ([]table.Name, error)
	// ReadUpkeep returns the time at which the next removal of a table's expired entities is due.
	ReadUpkeep(ctx context.Context, t table.RecordKey) (due edm.Ticks, state []byte, err error)
	// Beat writes the heartbeats of a Region.
	Beat(ctx context.Context, region string) error
}

// worker runs tasks, which are events that are not HTTP requests. A primary has a store; a secondary has a replica
// instead.
type worker struct {
	role    dynamodb.Role
	service *table.Service
	region  string
	store   store
	replica table.Replicated
}

// reserve is the remaining time before the function's deadline at which a purge stops.
const reserve = 10 * time.Second

// errLater stops a purge shortly before the function's deadline. The next purge continues where this one stopped.
var errLater = errors.New("the time is up")

// task runs the task that an event requests. The event must not be an HTTP request.
func (w *worker) task(ctx context.Context, event json.RawMessage, log *slog.Logger) error {
	var asked struct {
		Purge     bool `json:"purge"`
		Heartbeat bool `json:"heartbeat"`
	}
	switch err := json.Unmarshal(event, &asked); {
	case err == nil && asked.Heartbeat:
		return w.heartbeat(ctx, log)
	case err == nil && asked.Purge:
		return w.purge(ctx, log)
	}
	return errors.New(`the event is neither an HTTP request nor {"purge":true} nor {"heartbeat":true}`)
}

// heartbeat writes the heartbeat that secondaries in other Regions read. In a secondary, it checks the replica instead.
// After an error, the invocation fails, which can trigger an alarm.
func (w *worker) heartbeat(ctx context.Context, log *slog.Logger) error {
	switch w.role {
	case dynamodb.PrimaryRole:
		err := w.store.Beat(ctx, w.region)
		if err != nil {
			log.Error("heartbeat", "cause", err)
		}
		return err
	case dynamodb.SecondaryRole:
		r := w.replica.Replication()
		log.Info("replica", "status", r.Status.String(), "lastSyncTime", r.LastSync.Time())
		if r.Status != table.Live {
			return fmt.Errorf("the replica is %s, LastSyncTime is %s: see EdgetableSecondaryBehind in docs/runbook.md", r.Status, r.LastSync.Time().Format(time.RFC3339))
		}
	}
	return nil
}

// purge removes items of deleted tables and expired entities, concurrently, so that neither waits for the other. A
// secondary removes nothing: it receives the deletes of the primary.
func (w *worker) purge(ctx context.Context, log *slog.Logger) error {
	if w.role == dynamodb.SecondaryRole {
		return nil
	}
	var removed, expired error
	var both sync.WaitGroup
	both.Go(func() { removed = w.removeDeleted(ctx, log) })
	both.Go(func() { expired = w.expire(ctx, log) })
	both.Wait()
	return errors.Join(removed, expired)
}

func (w *worker) removeDeleted(ctx context.Context, log *slog.Logger) error {
	var done dynamodb.Progress
	err := w.store.Purge(ctx, func(p dynamodb.Progress) error {
		done = p
		if nearDeadline(ctx) {
			return errLater
		}
		return nil
	})
	log.Info("purge", "tables", done.Tables, "items", done.Items, "complete", err == nil)
	if errors.Is(err, errLater) {
		return nil
	}
	return err
}

// expireEach is the minimum time for each removed entity. It limits removals to 1,000 entities per second.
const expireEach = time.Millisecond

// expire removes expired entities until shortly before the function's deadline. Only one function or server at a time
// works on a table, and it resumes where the previous one stopped.
func (w *worker) expire(ctx context.Context, log *slog.Logger) error {
	list, err := w.store.Declared(ctx)
	w.sortByDue(ctx, list)
	var failed []error
	for _, t := range list {
		u, taken, err := w.service.TakeUpkeep(ctx, t)
		for done := !taken; err == nil && !done; {
			if nearDeadline(ctx) {
				return errors.Join(failed...)
			}
			before := u.Removed
			if done, err = w.service.Upkeep(ctx, &u); err == nil && !done {
				err = sleep(ctx, time.Duration(u.Removed-before)*expireEach)
			}
		}
		if u.Removed > 0 || err != nil {
			log.Info("expired entities removed", "account", t.Account, "table", t.Table, "entities", u.Removed, "complete", err == nil)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s/%s: %w", t.Account, t.Table, err))
		}
	}
	return errors.Join(append(failed, err)...)
}

// sortByDue sorts tables by the time at which their next removal is due. A table that needs many runs then delays each
// other table by at most one run.
func (w *worker) sortByDue(ctx context.Context, list []table.Name) {
	dues := map[table.Name]edm.Ticks{}
	for _, t := range list {
		dues[t], _, _ = w.store.ReadUpkeep(ctx, t.Key()) // after an error, TakeUpkeep probably fails too and reports it
	}
	slices.SortStableFunc(list, func(a, b table.Name) int { return cmp.Compare(dues[a], dues[b]) })
}

// nearDeadline returns true if the function's deadline is too close for further work.
func nearDeadline(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < reserve
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

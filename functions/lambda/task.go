package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
)

// store is the part of *dynamodb.Store that tasks use.
type store interface {
	// Purge removes the remains of deleted tables.
	Purge(ctx context.Context, report func(dynamodb.Progress) error) error
	// Beat writes the heartbeats of a Region.
	Beat(ctx context.Context, region string) error
}

// worker runs tasks. It has a store or, in a secondary, a replica.
type worker struct {
	role    dynamodb.Role
	region  string
	store   store
	replica table.Replicated
}

// reserve is how long before the function's deadline a purge stops starting new work.
const reserve = 10 * time.Second

// errLater ends a purge whose time is up. The next purge resumes there.
var errLater = errors.New("the time is up")

// task runs the task that an event other than a request asks for.
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

// heartbeat writes the heartbeat for a secondary in another Region or, in a secondary, checks the replica. Its error
// fails the function, for which there is an alarm.
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

// purge removes the remains of deleted tables. A secondary does nothing, because it receives these deletes from the
// primary.
func (w *worker) purge(ctx context.Context, log *slog.Logger) error {
	if w.role == dynamodb.SecondaryRole {
		return nil
	}
	var done dynamodb.Progress
	err := w.store.Purge(ctx, func(p dynamodb.Progress) error {
		done = p
		if end, ok := ctx.Deadline(); ok && time.Until(end) < reserve {
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

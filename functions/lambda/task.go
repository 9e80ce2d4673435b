package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"edgetable/adapters/store/dynamodb"
)

// purger is what removes what deleted tables left behind; *dynamodb.Store is one.
type purger interface {
	Purge(ctx context.Context, report func(dynamodb.Progress) error) error
}

// reserve is the time before the end of a function in which a purge begins
// nothing more.
const reserve = 10 * time.Second

// errLater ends a purge whose time is up. The next one goes on where it was.
var errLater = errors.New("the time is up")

// task does what an event asks for that is no request.
func task(ctx context.Context, event json.RawMessage, store purger, log *slog.Logger) error {
	var asked struct {
		Purge bool `json:"purge"`
	}
	if json.Unmarshal(event, &asked) != nil || !asked.Purge {
		return errors.New(`the event is neither an HTTP request nor {"purge":true}`)
	}
	var done dynamodb.Progress
	err := store.Purge(ctx, func(p dynamodb.Progress) error {
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

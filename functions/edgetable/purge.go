package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"edgetable/adapters/store/dynamodb"
)

// purge removes what nobody can see any more, once, with its progress on standard
// error.
func (p *program) purge(ctx context.Context, args []string) error {
	var o dynamodbFlags
	f := flag.NewFlagSet("dynamodb purge", flag.ContinueOnError)
	o.register(f)
	if err := p.parse(f, args, "Removes the items of tables that were deleted, or spread over other hash keys, more than an hour ago, and what\n"+
		"interrupted writes of large entities left behind. It may be interrupted, and run beside others and beside servers."); err != nil {
		return err
	}
	store, err := o.connect(ctx, 8)
	if err != nil {
		return err
	}
	var done dynamodb.Progress
	show := newProgress(p.err)
	err = store.Purge(ctx, func(now dynamodb.Progress) error {
		done = now
		show.show("%d items removed, %d tables", done.Items, done.Tables)
		return ctx.Err()
	})
	show.end()
	fmt.Fprintf(p.out, "%d items removed, %d tables are gone for good\n", done.Items, done.Tables)
	if err != nil {
		return fmt.Errorf("%w; run it again to go on", err)
	}
	return nil
}

// purgeEvery purges again and again until ctx ends. Other processes may do the
// same.
func purgeEvery(ctx context.Context, pause time.Duration, store *dynamodb.Store, log *slog.Logger) {
	for pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		var done dynamodb.Progress
		err := store.Purge(ctx, func(p dynamodb.Progress) error {
			done = p
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("purge failed; the next goes on where it was", "cause", err)
		case done != (dynamodb.Progress{}):
			log.Info("purged", "tables", done.Tables, "items", done.Items)
		}
	}
}

package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

const (
	// expireAfter is the time from the start of a server to its first look for entities that
	// have ended, and expireEvery that between two looks.
	expireAfter = time.Minute
	expireEvery = time.Hour
	// expireTurn is the least time between the looks of two servers that share a database.
	expireTurn = expireEvery - expireEvery/10
	// expireRest is how long it rests after each step, and expireEach after each removal: it
	// removes at most 1000 entities a second.
	expireRest = 10 * time.Millisecond
	expireEach = time.Millisecond
)

// expiry removes entities that have ended by the rules of their tables, of one table after the
// other.
type expiry struct {
	service  *table.Service
	accounts func() []string
	paused   func() bool                                                           // another server writes the tables
	turn     func(ctx context.Context, every time.Duration) (mine bool, err error) // of [table.Sharing], or nil
	log      *slog.Logger
	removed  atomic.Int64
}

// keepsRules reports whether tables of a store can have rules of expiry.
func keepsRules(s table.Store) bool {
	d, ok := table.As[table.Declaring](s)
	if !ok {
		return false
	}
	_, expiry := d.Declares()
	return expiry
}

// turnOf is how servers that share a store take turns, nil for one of its own.
func turnOf(s table.Store) func(context.Context, time.Duration) (bool, error) {
	if shared, ok := table.As[table.Sharing](s); ok {
		return shared.Turn
	}
	return nil
}

// run looks again and again until ctx ends.
func (e *expiry) run(ctx context.Context) {
	for wait := expireAfter; cli.Sleep(ctx, wait) == nil; wait = expireEvery {
		if !e.mine(ctx) {
			continue
		}
		for _, account := range e.accounts() {
			if e.paused() || ctx.Err() != nil {
				break
			}
			tables, err := e.service.TablesWithTraits(ctx, account)
			if err != nil {
				e.failed(ctx, account, err)
				continue
			}
			for _, t := range tables {
				e.pass(ctx, t)
			}
		}
	}
}

// mine reports whether this server looks now, for all that share a database.
func (e *expiry) mine(ctx context.Context) bool {
	if e.turn == nil || e.paused() {
		return true
	}
	mine, err := e.turn(ctx, expireTurn)
	if err != nil {
		e.failed(ctx, "every table", err)
	}
	return mine
}

// pass removes what has ended of one table.
func (e *expiry) pass(ctx context.Context, t table.Name) {
	u := table.Upkeep{Table: t}
	defer func() {
		if u.Removed > 0 {
			e.log.Info("expired entities removed", "account", t.Account, "table", t.Table, "entities", u.Removed)
		}
	}()
	for !e.paused() {
		before := u.Removed
		done, err := e.service.Upkeep(ctx, &u)
		e.removed.Add(int64(u.Removed - before))
		if err != nil {
			e.failed(ctx, t.Account+"/"+t.Table, err)
			return
		}
		if done || cli.Sleep(ctx, max(expireRest, time.Duration(u.Removed-before)*expireEach)) != nil {
			return
		}
	}
}

func (e *expiry) failed(ctx context.Context, of string, cause error) {
	if ctx.Err() == nil {
		e.log.Warn("expired entities were not removed; the next look resumes. No answer shows them", "of", of, "cause", cause)
	}
}

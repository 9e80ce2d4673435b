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
	// expireAfter is how long after the start the server first looks for expired entities. expireEvery is the
	// interval after that.
	expireAfter = time.Minute
	expireEvery = time.Hour
	// expireRest is the pause after each step, and expireEach that after each removal. They limit removal to 1000
	// entities per second.
	expireRest = 10 * time.Millisecond
	expireEach = time.Millisecond
)

// expiry removes expired entities, table by table, by the rules of the tables.
type expiry struct {
	service  *table.Service
	accounts func() []string
	paused   func() bool // true while another server writes the tables
	log      *slog.Logger
	removed  atomic.Int64
}

// keepsRules reports whether the tables of a store can have expiry rules.
func keepsRules(s table.Store) bool {
	d, ok := table.As[table.Declaring](s)
	if !ok {
		return false
	}
	_, expiry := d.Declares()
	return expiry
}

// run makes passes over all tables until ctx ends.
func (e *expiry) run(ctx context.Context) {
	for wait := expireAfter; cli.Sleep(ctx, wait) == nil; wait = expireEvery {
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

// pass removes the expired entities of one table.
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

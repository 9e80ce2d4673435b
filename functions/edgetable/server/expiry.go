package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

const (
	// expireAfter is the time from the start of a server to its first look for entities that
	// have ended, and expireEvery that between two looks.
	expireAfter = time.Minute
	expireEvery = time.Hour
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
	paused   func() bool // another server writes the tables
	log      *slog.Logger
	removed  atomic.Int64
	behind   atomic.Int64 // nanoseconds, by the last look
	took     atomic.Int64 // the same: how long that look took
	looked   atomic.Int64 // when the last look began that ended, as Unix time in nanoseconds
}

// late is for how long an entity could have been removed and was not: by the last look, and
// if none comes to its end, as long as there was none.
func (e *expiry) late() time.Duration {
	return max(time.Duration(e.behind.Load()), time.Since(time.Unix(0, e.looked.Load())))
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

// run looks again and again until ctx ends.
func (e *expiry) run(ctx context.Context) {
	e.looked.Store(time.Now().UnixNano())
	for wait := expireAfter; cli.Sleep(ctx, wait) == nil; wait = expireEvery {
		began, whole := time.Now(), true
		var behind edm.Ticks
		for _, account := range e.accounts() {
			if e.paused() || ctx.Err() != nil {
				break // another server removes, or this one ends
			}
			tables, err := e.service.TablesWithTraits(ctx, account)
			if err != nil {
				e.failed(ctx, account, err)
				whole = false
				continue
			}
			for _, t := range tables {
				late, ok := e.pass(ctx, t)
				behind, whole = max(behind, late), whole && ok
			}
		}
		if whole {
			e.behind.Store(int64(behind) * 100)
			e.took.Store(int64(time.Since(began)))
			e.looked.Store(began.UnixNano())
		}
	}
}

// pass removes what has ended of one table. It returns for how long an entity of it could
// have been removed before, and whether nothing failed.
func (e *expiry) pass(ctx context.Context, t table.Name) (late edm.Ticks, ok bool) {
	u, taken, err := e.service.TakeUpkeep(ctx, t)
	if err != nil {
		e.failed(ctx, t.Account+"/"+t.Table, err)
	}
	if err != nil || !taken {
		return 0, err == nil
	}
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
			return u.Behind, false
		}
		if done || cli.Sleep(ctx, max(expireRest, time.Duration(u.Removed-before)*expireEach)) != nil {
			break
		}
	}
	return u.Behind, true
}

func (e *expiry) failed(ctx context.Context, of string, cause error) {
	if ctx.Err() == nil {
		e.log.Warn("expired entities were not removed; the next look resumes. No answer shows them", "of", of, "cause", cause)
	}
}

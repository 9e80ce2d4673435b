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
	// expireAfter is the delay between the start of the server and its first search for expired entities. expireEvery is
	// the interval of later searches.
	expireAfter = time.Minute
	expireEvery = time.Hour
	// expireRest is the pause after each step of a search. expireEach is the pause for each removed entity. Together,
	// they limit removals to 1000 entities per second.
	expireRest = 10 * time.Millisecond
	expireEach = time.Millisecond
)

// expiry removes entities that have expired by the rules of their tables, one table after another.
type expiry struct {
	service  *table.Service
	accounts func() []string
	paused   func() bool // returns true while another server writes the tables
	log      *slog.Logger
	removed  atomic.Int64
	behind   atomic.Int64 // largest delay of a removal that the last search found, in nanoseconds
	took     atomic.Int64 // duration of the last search, in nanoseconds
	looked   atomic.Int64 // start of the last completed search, as Unix time in nanoseconds
}

// removalDelay returns the maximum time for which an expired entity may have waited for its removal. This is the largest
// delay that the last search found, or the time since that search began, whichever is longer.
func (e *expiry) removalDelay() time.Duration {
	return max(time.Duration(e.behind.Load()), time.Since(time.Unix(0, e.looked.Load())))
}

// keepsRules reports whether tables of a store can have expiry rules.
func keepsRules(s table.Store) bool {
	d, ok := table.As[table.Declaring](s)
	if !ok {
		return false
	}
	_, expiry := d.Declares()
	return expiry
}

// run searches all tables for expired entities, at intervals, until ctx ends.
func (e *expiry) run(ctx context.Context) {
	e.looked.Store(time.Now().UnixNano())
	for wait := expireAfter; cli.Sleep(ctx, wait) == nil; wait = expireEvery {
		began, whole := time.Now(), true
		var behind edm.Ticks
		for _, account := range e.accounts() {
			if e.paused() || ctx.Err() != nil {
				break // a secondary, or a server that is stopping, removes no expired entities
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

// pass removes the expired entities of one table. It returns how long the earliest of them has been waiting
// for its removal. The second result is false if there was an error.
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
		e.log.Warn("expired entities were not removed; the next pass resumes. No response contains them", "of", of, "cause", cause)
	}
}

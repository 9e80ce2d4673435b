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
	// expireAfter is the delay from the start of the server to the first upkeep pass, and expireEvery is the interval
	// of the passes.
	expireAfter = time.Minute
	expireEvery = time.Hour
	// expireRest is the minimum pause after each step of a pass, and expireEach the pause for each removed entity. They
	// limit the removal to 1000 entities a second.
	expireRest = 10 * time.Millisecond
	expireEach = time.Millisecond
)

// expiry runs upkeep: it removes expired entities, one table after another.
type expiry struct {
	service  *table.Service
	accounts func() []string
	paused   func() bool // function that reports whether another server writes the tables
	log      *slog.Logger
	removed  atomic.Int64
	behind   atomic.Int64 // longest delay of a removal in the last pass, in nanoseconds
	took     atomic.Int64 // duration of the last complete pass, in nanoseconds
	looked   atomic.Int64 // start of the last complete pass, in Unix nanoseconds
}

// removalDelay returns an upper bound of the time that an expired entity has waited for its removal: the longest delay
// in the last pass, or the time since this pass started.
func (e *expiry) removalDelay() time.Duration {
	return max(time.Duration(e.behind.Load()), time.Since(time.Unix(0, e.looked.Load())))
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

// run makes upkeep passes over all tables, at intervals, until ctx is done.
func (e *expiry) run(ctx context.Context) {
	e.looked.Store(time.Now().UnixNano())
	for wait := expireAfter; cli.Sleep(ctx, wait) == nil; wait = expireEvery {
		began, whole := time.Now(), true
		var behind edm.Ticks
		for _, account := range e.accounts() {
			if e.paused() || ctx.Err() != nil {
				break // a secondary must not write
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

// pass removes the expired entities of a table. The result delay is how long the entity that expired first has waited
// for its removal. The result ok is false after an error.
func (e *expiry) pass(ctx context.Context, t table.Name) (delay edm.Ticks, ok bool) {
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

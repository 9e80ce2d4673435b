package server

import (
	"context"
	"log/slog"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

const (
	// trimEvery is the interval at which the server removes old changes from the change feeds of tables. trimFull is the
	// interval at which the server checks whether change feeds fill the store.
	trimEvery = time.Hour
	trimFull  = time.Minute
	// When a check first finds that change feeds fill the store, the server begins to remove changes earlier than usual. The
	// constant trimFirst is how much earlier. Each further check with the same result doubles this duration, from the fifth
	// check on it multiplies the duration by 16. So all change feeds are empty within ten minutes, however long they keep
	// their changes.
	trimFirst = 6 * 3600 * edm.TicksPerSecond
)

// feeds removes old changes from change feeds. Each change feed keeps its changes for a certain time. If change feeds fill
// the store, or are about to fill it, younger changes are removed too. Otherwise the store would have to refuse writes.
type feeds struct {
	service *table.Service
	paused  func() bool // reports whether another server, not this one, writes to the tables
	fill    func() bool
	log     *slog.Logger
}

// openFeeds returns nil if the store has no feeds.
func openFeeds(store table.Store, service *table.Service, paused func() bool, log *slog.Logger) *feeds {
	if _, ok := table.As[table.Feeding](store); !ok {
		return nil
	}
	f := &feeds{service: service, paused: paused, fill: func() bool { return false }, log: log}
	if s, ok := table.As[interface{ FeedsFillIt() bool }](store); ok {
		f.fill = s.FeedsFillIt
	}
	return f
}

// run removes old changes from the feeds of all tables until ctx ends.
func (f *feeds) run(ctx context.Context) {
	ahead := edm.Ticks(0)
	for n := 1; cli.Sleep(ctx, trimFull) == nil; n++ {
		switch fill := f.fill(); {
		case !fill:
			ahead = 0
		case ahead == 0:
			ahead = trimFirst
			f.log.Warn("the disk, or the memory for tables, is full or soon will be: changes are removed from feeds before their time, the oldest first")
		case ahead < 8*trimFirst:
			ahead *= 2
		default:
			ahead = min(16*ahead, 1<<58) // 16 times this would still be a Ticks
		}
		if f.paused() || ahead == 0 && n%int(trimEvery/trimFull) != 1 {
			continue
		}
		if err := f.service.TrimFeeds(ctx, ahead); err != nil && ctx.Err() == nil {
			f.log.Warn("old changes were not removed from feeds; the next pass resumes", "cause", err)
		}
	}
}

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
	// trimEvery is the interval at which old changes are removed from the feeds of tables. trimFull is the interval at
	// which the server checks whether feeds fill the store.
	trimEvery = time.Hour
	trimFull  = time.Minute
	// trimFirst is how much earlier than usual changes are removed when a check first finds that feeds fill the store.
	// Each further check doubles this time, and from the fifth check on multiplies it by 16. All feeds are therefore
	// empty within ten minutes, whatever their retention.
	trimFirst = 6 * 3600 * edm.TicksPerSecond
)

// feeds removes old changes from feeds after the retention time of each feed. If feeds fill the store or are about to
// fill it, newer changes are removed too, because the store would otherwise reject writes.
type feeds struct {
	service *table.Service
	paused  func() bool // reports whether another server writes the tables
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

// run trims the feeds of all tables until ctx is done.
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
			ahead = min(16*ahead, 1<<58) // 16*ahead must not overflow
		}
		if f.paused() || ahead == 0 && n%int(trimEvery/trimFull) != 1 {
			continue
		}
		if err := f.service.TrimFeeds(ctx, ahead); err != nil && ctx.Err() == nil {
			f.log.Warn("old changes were not removed from feeds; the next pass resumes", "cause", err)
		}
	}
}

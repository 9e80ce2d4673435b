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
	// trimEvery is the interval at which old changes are removed from feeds, and trimFull the interval at which the
	// server checks whether feeds fill the store.
	trimEvery = time.Hour
	trimFull  = time.Minute
	// trimFirst is the time by which the retention is first reduced if feeds fill the store. Each further check at
	// which feeds fill the store increases this time.
	trimFirst = 6 * 3600 * edm.TicksPerSecond
)

// feeds removes the changes in feeds that are older than the retention time. If feeds fill the store, it also removes
// newer changes, because the store would otherwise reject writes.
type feeds struct {
	service *table.Service
	paused  func() bool // function that reports whether another server writes the tables
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
		default: // at this rate, all feeds are empty within ten minutes, whatever their retention
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

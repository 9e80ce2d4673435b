package ship

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/backup/repository"
)

// steps is the number of steps in which the commits of one interval are packed. Packing all of them at once would delay
// requests.
const steps, shortestStep = 50, 5 * time.Millisecond

// mostLooks is the number of consecutive checks that must find another primary before the shipper stops. A single check
// is not sufficient, because a promotion may begin and then fail.
const mostLooks = 2

// Serve ships the log at each interval until ctx is done. While the function paused returns true, it ships nothing.
func (s *Shipper) Serve(ctx context.Context, every time.Duration, paused func() bool) {
	var failing time.Time // when the failures began; zero if the last attempt succeeded
	told := ""
	looks := 0 // number of consecutive checks that reported a replacement
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		var err error
		idle := paused()
		switch {
		case idle:
			s.update(func(st *Status) { st.CaughtUp = time.Now() })
		case s.Store.Timeline().Replaced != nil:
			s.awaitTakeOver(ctx)
			looks, failing, told = 0, time.Time{}, ""
			continue
		default:
			err = s.shipDurable(ctx, every)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, repository.ErrReplaced):
			if looks++; looks == mostLooks {
				s.markReplaced(ctx, err)
			}
		case err != nil:
			s.update(func(st *Status) { st.Failures++ })
			if failing.IsZero() {
				failing = time.Now()
			}
			if err.Error() != told {
				told = err.Error()
				s.Log.Error("the log cannot be shipped"+s.shippedWhen(err), "cause", err)
			}
		case !failing.IsZero():
			s.Log.Info("the log is shipped again", "after", time.Since(failing).Round(time.Second))
			failing, told = time.Time{}, ""
		}
		if err == nil {
			looks = 0
		}
		if err != nil || idle {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		} else {
			s.packUntil(ctx, tick.C, max(every/steps, shortestStep))
		}
	}
}

// shippedWhen returns the part of an error message that says when the log will be shipped, and what an operator can do.
func (s *Shipper) shippedWhen(err error) string {
	const text = " to this location; the log is kept until the backup location of this store is available"
	switch {
	case errors.Is(err, repository.ErrElsewhere):
		return text + ". If this is the right location, stop the server, run " + s.TakeOver + ", and start the server again; from then on, prune and --backup-keep can remove the earlier backups"
	case errors.Is(err, repository.ErrOtherStore):
		return text
	}
	return "; the log is kept, and shipped later"
}

// packUntil adds commits to the next piece as they become durable, until the channel ticks has a tick or ctx is done.
// shipDurable reports the errors.
func (s *Shipper) packUntil(ctx context.Context, ticks <-chan time.Time, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			return
		case <-tick.C:
		}
		n, err := s.pack(ctx, s.Store.Durable())
		if n == 0 || err != nil || s.reader == nil { // no commit was added, so the next call of packUntil tries again
			tick.Stop()
		}
	}
}

// End ships the remaining commits after the server has stopped, if this process was shipping the log.
func (s *Shipper) End() {
	if s.reader == nil || s.Primary.Replaced() != nil {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), lastTurn)
	defer end()
	if err := s.shipDurable(ctx, lastTurn); err != nil {
		s.Log.Warn("the last part of the log was not shipped; the next start ships it", "cause", err)
	}
}

// lastTurn is the maximum time for which a shutdown waits for the backup location.
const lastTurn = 5 * time.Second

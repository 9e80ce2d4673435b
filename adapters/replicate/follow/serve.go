package follow

import (
	"context"
	"errors"
	"time"
)

// Serve applies the log until ctx is done or the store is promoted.
func (f *Follower) Serve(ctx context.Context) {
	var failing time.Time // time of the first failure in the current series of failures; zero after a success
	told := ""            // text of the last error that was logged
	for ctx.Err() == nil && f.IsFollowing() {
		var err error
		if !f.Unbuilt() {
			err = f.applyShipped(ctx)
		}
		if f.Unbuilt() || errors.Is(err, errOutdated) {
			built, failed := f.buildNext(ctx, err)
			if built {
				f.o.End(ErrBuilt)
				return
			}
			err = failed
		}
		switch {
		case ctx.Err() != nil || !f.IsFollowing():
			return
		case err != nil:
			if failing.IsZero() {
				failing = time.Now()
			}
			if err.Error() != told {
				told = err.Error()
				if f.Unbuilt() {
					f.o.Log.Error("the secondary cannot be built yet; it tries again", "cause", err)
				} else {
					f.o.Log.Error("the secondary cannot follow", "cause", err)
				}
			}
		case !failing.IsZero():
			f.o.Log.Info("the secondary follows again", "after", time.Since(failing).Round(time.Second))
			failing, told = time.Time{}, ""
		}
		select {
		case <-ctx.Done():
		case <-time.After(f.o.Interval):
		}
	}
}

// buildNext builds a new store while the current store serves reads. The error cause says why the current store must be
// replaced. If cause is nil, there is no current store.
func (f *Follower) buildNext(ctx context.Context, cause error) (built bool, err error) {
	if time.Now().Before(f.again) {
		return false, f.failed
	}
	building, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	f.stop = stop
	f.mu.Unlock()
	if cause != nil {
		f.o.Log.Warn("the secondary builds a new store, and serves the current store until the new one is complete", "cause", cause)
	}
	complete := false // prepare may have failed before, so it is called again; it may also complete an interrupted replacement of the store
	if f.failed = nil; f.Unbuilt() {
		complete, f.failed = f.o.prepare()
	}
	if f.failed == nil && !complete {
		f.failed = f.build(building, f.at.Number)
	}
	f.working.Lock() // a promotion must wait until the new store replaces the current store
	defer f.working.Unlock()
	if !f.IsFollowing() {
		return false, Discard(f.o.Dir)
	}
	if f.failed == nil && !complete {
		f.failed = commitSwap(f.o.Dir)
	}
	if f.failed != nil {
		f.failLater()
		return false, f.joinCauses(cause)
	}
	f.mu.Lock()
	f.built = true
	f.mu.Unlock()
	return true, nil
}

package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// filling is a store for tests. The test sets whether the store is full.
type filling struct {
	table.Store
	full atomic.Bool
}

func (s *filling) Unwrap() table.Store { return s.Store }
func (s *filling) FeedsFillIt() bool   { return s.full.Load() }

// newFilling returns a store with a table whose feed keeps its changes for a duration. write makes a change, and kept returns the
// number of changes in the feed.
func newFilling(t *testing.T, keep edm.Ticks) (store *filling, service *table.Service, write func(), kept func() int) {
	t.Helper()
	store = &filling{Store: memstore.New(stores.Now)}
	service = stores.NewService(store, 0)
	name := table.Name{Account: "acme", Table: "People"}
	must.OK(t, service.CreateTable(t.Context(), name))
	must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{Changes: &table.Feed{Keep: keep}}))
	write = func() {
		t.Helper()
		_, err := service.Write(t.Context(), name, table.Operation{Action: table.InsertOrReplace, PartitionKey: "p"})
		must.OK(t, err)
	}
	kept = func() int {
		t.Helper()
		page, err := service.Changes(t.Context(), name, table.FeedRequest{Oldest: true})
		must.OK(t, err)
		return len(page.Commits)
	}
	return store, service, write, kept
}

// TestFeeds checks that the server removes old changes, except while another server writes the tables. If the store
// is full, the server must also remove younger changes, the oldest first.
func TestFeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const keep = 2 * 24 * time.Hour
		store, service, write, kept := newFilling(t, edm.Ticks(keep/100))
		ctx, end := context.WithCancel(t.Context())
		var paused atomic.Bool
		paused.Store(true)
		f := openFeeds(store, service, paused.Load, slog.New(slog.DiscardHandler))
		done := make(chan bool)
		go func() { f.run(ctx); close(done) }()
		write()
		time.Sleep(keep - time.Hour)
		write()
		time.Sleep(2*time.Hour + 90*time.Second)
		if n := kept(); n != 2 {
			t.Errorf("%d commits are kept while another server writes", n)
		}
		paused.Store(false)
		time.Sleep(time.Hour)
		if n := kept(); n != 1 {
			t.Errorf("%d commits are kept, want the younger one", n)
		}
		write()
		store.full.Store(true)
		time.Sleep(3 * time.Minute) // three checks: they remove changes that would be kept for up to 6, 12 and 24 more hours
		if n := kept(); n != 2 {
			t.Errorf("%d commits are kept after three minutes without space", n)
		}
		time.Sleep(time.Minute) // the fourth check removes changes that would be kept for up to 48 more hours, so that no change is left
		if n := kept(); n != 0 {
			t.Errorf("%d commits are kept after four minutes without space", n)
		}
		store.full.Store(false)
		write()
		time.Sleep(24 * time.Hour)
		if n := kept(); n != 1 {
			t.Errorf("%d commits are kept when there is space again", n)
		}
		end()
		<-done
	})
	if openFeeds(plain{}, nil, nil, nil) != nil {
		t.Error("a store without feeds has them trimmed")
	}
}

// TestFullStoreEmptiesLongFeed checks that a feed that keeps its changes for 100 years is emptied within ten minutes if the
// store is full.
func TestFullStoreEmptiesLongFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, service, write, kept := newFilling(t, 36500*24*3600*edm.TicksPerSecond)
		ctx, end := context.WithCancel(t.Context())
		write()
		store.full.Store(true)
		done := make(chan bool)
		go func() {
			openFeeds(store, service, func() bool { return false }, slog.New(slog.DiscardHandler)).run(ctx)
			close(done)
		}()
		time.Sleep(10 * time.Minute)
		if n := kept(); n > 0 {
			t.Errorf("%d commits are kept", n)
		}
		end()
		<-done
	})
}

// plain is a store without optional interfaces.
type plain struct{ table.Store }

package feed

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/table"
)

// TestWaiters checks that one query per interval serves all waiting clients, and that no
// query is sent while no client waits.
func TestWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked, most atomic.Int64
		var ready atomic.Pointer[string] // the position after which there are changes
		l := waiters{run: func(do func()) { go do() }, every: time.Second, findChanged: func(keys []waitKey, _ []*waiter) (news []int) {
			asked.Add(1)
			most.Store(max(most.Load(), int64(len(keys))))
			for i, p := range keys {
				if at := ready.Load(); at != nil && *at == p.at {
					news = append(news, i)
				}
			}
			return news
		}}
		at := func(high int64) table.FeedPosition {
			return table.FeedPosition{At: (&Position{Point: Point{High: high}}).Bytes()}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1000)
		for i := range 1000 {
			go func() { ended <- l.await(ctx, at(int64(i%10))) }()
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if n := asked.Load(); n < 10 || n > 11 || most.Load() != 10 || len(ended) > 0 {
			t.Errorf("for 1000 who wait at 10 positions it was asked %d times in 10 s, for %d positions; %d have ended", n, most.Load(), len(ended))
		}
		ready.Store(new(string(at(3).At)))
		time.Sleep(time.Second)
		if len(ended) != 100 {
			t.Errorf("%d of those who wait at a position are woken", len(ended))
		}
		for range 100 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		cancel()
		for range 900 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		before := asked.Load()
		time.Sleep(time.Hour)
		if n := asked.Load(); n != before {
			t.Errorf("it is asked %d times while nobody waits", n-before)
		}
		inside := Position{Until: &Point{}}
		if err := l.await(t.Context(), table.FeedPosition{At: inside.Bytes()}); err != nil {
			t.Error(err)
		}
		ready.Store(new(string(at(1).At)))
		if err := l.await(t.Context(), at(1)); err != nil || asked.Load() != before+1 {
			t.Errorf("the next one: %v, asked %d times", err, asked.Load()-before)
		}
		time.Sleep(2 * time.Second)
	})
}

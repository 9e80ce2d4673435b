package feed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/table"
)

// All who wait are asked for at once, at intervals, and nothing is asked while nobody waits.
func TestWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, most := 0, 0
		var ready func(p place) bool
		l := waiters{run: func(do func()) { go do() }, every: time.Second, news: func(places []place, _ []*waiter) (news []int) {
			asked, most = asked+1, max(most, len(places))
			for i, p := range places {
				if ready != nil && ready(p) {
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
		if asked < 10 || asked > 11 || most != 10 || len(ended) > 0 {
			t.Errorf("for 1000 who wait at 10 positions it was asked %d times in 10 s, for %d positions; %d have ended", asked, most, len(ended))
		}
		ready = func(p place) bool { return p.at == string(at(3).At) }
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
		before := asked
		time.Sleep(time.Hour)
		if asked != before {
			t.Errorf("it is asked %d times while nobody waits", asked-before)
		}
		inside := Position{Until: &Point{}}
		if err := l.await(t.Context(), table.FeedPosition{At: inside.Bytes()}); err != nil {
			t.Error(err)
		}
		ready = func(place) bool { return true }
		if err := l.await(t.Context(), at(1)); err != nil || asked != before+1 {
			t.Errorf("the next one: %v, asked %d times", err, asked-before)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
	})
}

package postgres

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// However many connections there are, each use gets its own while all others have the most,
// and all together never have more than there are.
func TestParts(t *testing.T) {
	t.Parallel()
	for n := minConnections; n < 200; n++ {
		for name, a := range map[string]*allocator{"primary": forPrimary(n), "replica": forReplica(n)} {
			if a.free < 0 {
				t.Fatalf("%s: %d connections, and the uses own %d more", name, n, -a.free)
			}
			for first := range uses {
				a := newAllocator(n, a.parts)
				all := 0
				for i := range uses {
					for a.begin((first + i) % uses) {
						all++
					}
				}
				if all > n {
					t.Fatalf("%s: %d of %d connections are in use", name, all, n)
				}
				for u := range uses {
					if a.busy[u] < a.parts[u].own || a.busy[u] > a.parts[u].most {
						t.Fatalf("%s of %d: use %d has %d connections, and its part is %v", name, n, u, a.busy[u], a.parts[u])
					}
				}
			}
		}
	}
}

// The next connection goes to the account that had them for the shortest time, and a page is
// told that somebody waits who had less.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := forReplica(3) // two are for pages
		loud, quiet := client{usePages, "loud"}, client{usePages, "quiet"}
		served := make(chan *lease, 100)
		request := func(c client) {
			go func() {
				l, err := a.take(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				served <- l
			}()
			synctest.Wait()
		}
		for range 10 {
			request(loud)
		}
		first, second := <-served, <-served
		time.Sleep(time.Second)
		if a.wanted(loud) {
			t.Error("requests of the same account are reason to end a page")
		}
		request(quiet)
		if !a.wanted(loud) || a.wanted(quiet) {
			t.Error("who waits had less and need not wait")
		}
		first.leave()
		third := <-served
		if third.client != quiet {
			t.Errorf("the next is %v", third.client)
		}
		request(quiet)
		third.leave()
		second.leave()
		for range 9 {
			(<-served).leave()
			synctest.Wait()
		}
		if a.free != 0 || a.busy[usePages] != 0 {
			t.Errorf("%d are free and %d in use at the end", a.free, a.busy[usePages])
		}
	})
}

// A request that gives up leaves no trace, also if its turn comes at the same moment.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := forReplica(2)
		for range 100 {
			l, err := a.take(t.Context(), client{use: usePages})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan *lease)
			go func() {
				l, err := a.take(ctx, client{use: usePages})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				got <- l
			}()
			synctest.Wait()
			go cancel()
			go l.leave()
			if l := <-got; l != nil {
				l.leave()
			}
			synctest.Wait()
			if a.busy[usePages] != 0 || a.queue[usePages].Waiting() != 0 {
				t.Fatalf("%d in use, %d wait", a.busy[usePages], a.queue[usePages].Waiting())
			}
		}
	})
}

package lend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestParts checks how connections are divided between kinds of operations (uses). Each use
// must get its reserved connections, even if every other use has its maximum number of
// connections. All uses together must never have more connections than there are.
func TestParts(t *testing.T) {
	t.Parallel()
	for n := Fewest; n < 200; n++ {
		for name, a := range map[string]*Lender{"primary": ForPrimary(n), "replica": ForReplica(n)} {
			if a.free < 0 {
				t.Fatalf("%s: %d connections, and the uses own %d more", name, n, -a.free)
			}
			for first := range uses {
				a := newLender(n, a.parts)
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
					if a.busy[u] < a.parts[u].reserved || a.busy[u] > a.parts[u].limit {
						t.Fatalf("%s of %d: use %d has %d connections, and its part is %v", name, n, u, a.busy[u], a.parts[u])
					}
				}
			}
		}
	}
}

// TestTurns checks that the next connection goes to the account that has used connections
// for the shortest time. A page of a scan must be told when such an account waits.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := ForReplica(3) // two of the three connections are for pages
		loud, quiet := Client{Pages, "loud"}, Client{Pages, "quiet"}
		served := make(chan *Lease, 100)
		request := func(c Client) {
			go func() {
				l, err := a.Take(t.Context(), c)
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
		if a.Wanted(loud) {
			t.Error("requests of the same account are reason to end a page")
		}
		request(quiet)
		if !a.Wanted(loud) || a.Wanted(quiet) {
			t.Error("who waits had less and need not wait")
		}
		first.Leave()
		third := <-served
		if third.client != quiet {
			t.Errorf("the next is %v", third.client)
		}
		request(quiet)
		third.Leave()
		second.Leave()
		for range 9 {
			(<-served).Leave()
			synctest.Wait()
		}
		if a.free != 0 || a.busy[Pages] != 0 {
			t.Errorf("%d are free and %d in use at the end", a.free, a.busy[Pages])
		}
	})
}

// TestGiveUp checks that no connection is lost if the context of a waiting client ends, even
// if the client is granted a connection at the same moment.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := ForReplica(2)
		for range 100 {
			l, err := a.Take(t.Context(), Client{Use: Pages})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan *Lease)
			go func() {
				l, err := a.Take(ctx, Client{Use: Pages})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				got <- l
			}()
			synctest.Wait()
			go cancel()
			go l.Leave()
			if l := <-got; l != nil {
				l.Leave()
			}
			synctest.Wait()
			if a.busy[Pages] != 0 || a.queue[Pages].Waiting() != 0 {
				t.Fatalf("%d in use, %d wait", a.busy[Pages], a.queue[Pages].Waiting())
			}
		}
	})
}

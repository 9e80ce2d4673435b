package repository_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
)

// TestKill ends a backup or a prune at each of its steps. Each backup that is listed after that must be complete.
// The next backup and prune must remove all unneeded objects.
func TestKill(t *testing.T) {
	t.Parallel()
	stride := 1
	if testing.Short() {
		stride = 5
	}
	for name, run := range map[string]func(w *world, t *testing.T, place stepped) error{
		"first": func(w *world, t *testing.T, place stepped) error {
			_, err := w.create(t, t.Context(), place)
			return err
		},
		"create": func(w *world, t *testing.T, place stepped) error {
			_, err := w.create(t, t.Context(), place)
			return err
		},
		"prune": func(w *world, t *testing.T, place stepped) error {
			_, err := w.prune(t.Context(), place, 1)
			return err
		},
	} {
		for _, encrypted := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for n := 0; ; n += stride {
					w, place := newWorld(uint64(n)), newShelf()
					if encrypted {
						w.encrypted(t)
					}
					if name != "first" {
						w.fill(t, place, 3)
					}
					err := run(w, t, stepped{place, killAt(n)})
					if err != nil && !errors.Is(err, errKilled) {
						t.Fatal(err)
					}
					if place.count("backups/") > 0 {
						w.check(t, place)
						w.restored(t, place)
					}
					w.change()
					if _, createErr := w.create(t, t.Context(), place); createErr != nil {
						t.Fatal(n, createErr)
					}
					w.clean(t, place)
					w.restored(t, place)
					if err == nil {
						t.Logf("%d steps", n)
						return
					}
				}
			})
		}
	}
}

func (w *world) fill(t *testing.T, place *shelf, n int) {
	t.Helper()
	for range n {
		w.change()
		if _, err := w.create(t, t.Context(), place); err != nil {
			t.Fatal(err)
		}
	}
}

// clean removes all backups except the newest. It checks that only the newest backup and its
// objects remain.
func (w *world) clean(t *testing.T, place *shelf) {
	t.Helper()
	done, err := w.prune(t.Context(), place, 1)
	if err != nil || len(done.Unfinished) > 0 {
		t.Fatalf("%v, %+v", err, done)
	}
	all := w.check(t, place)
	if len(all.Complete) != 1 || len(all.Unfinished) != 0 {
		t.Fatalf("%d backups, %d unfinished", len(all.Complete), len(all.Unfinished))
	}
	needed := map[string]bool{}
	for _, f := range all.Complete[0].Files {
		for _, p := range f.Parts {
			needed[p.Object] = true
		}
	}
	if n := place.count("objects/"); n != len(needed) {
		t.Fatalf("%d objects, but %d are needed", n, len(needed))
	}
}

// TestTogether runs a backup and a prune at the same time, and switches between the two at random steps. Sometimes
// it kills the backup or the prune.
func TestTogether(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		w, place := newWorld(seed), newShelf()
		w.fill(t, place, 2+int(seed%3))
		if seed%2 == 0 { // leaves objects of a killed run, which no backup needs
			_, _ = w.create(t, t.Context(), stepped{place, killAt(12)})
			if seed%4 == 0 {
				w.abandon(t, place)
			}
		}
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var waiting [2][]chan struct{} // steps that wait: waiting[0] of the backup, waiting[1] of the prune
			type arrival struct {
				who int
				c   chan struct{}
			}
			arrive := make(chan arrival)
			turn := func(who, n int) step {
				kill := killAt(n)
				return func(after bool) error {
					c := make(chan struct{})
					arrive <- arrival{who, c}
					<-c
					return kill(after)
				}
			}
			ends := func() int { // most runs are not killed
				if r.IntN(3) == 0 {
					return r.IntN(40)
				}
				return 1 << 20
			}
			w.change()
			running := 2
			ended := make(chan struct{}, running)
			for who, f := range []func(place stepped) error{
				func(place stepped) error { _, err := w.create(t, t.Context(), place); return err },
				func(place stepped) error { _, err := w.prune(t.Context(), place, 1); return err },
			} {
				place := stepped{place, turn(who, ends())}
				go func() {
					if err := f(place); err != nil && !errors.Is(err, errKilled) {
						t.Error(err)
					}
					ended <- struct{}{}
				}()
			}
			who := r.IntN(2)
			for running > 0 {
				synctest.Wait()
				select {
				case a := <-arrive:
					waiting[a.who] = append(waiting[a.who], a.c)
					continue
				case <-ended:
					running--
					continue
				default:
				}
				if r.IntN(10) == 0 || len(waiting[who]) == 0 {
					who = 1 - who
				}
				if n := len(waiting[who]); n > 0 {
					i := r.IntN(n)
					close(waiting[who][i])
					waiting[who] = slices.Delete(waiting[who], i, i+1)
				}
			}
		})
		w.check(t, place)
		w.change()
		if _, err := w.create(t, t.Context(), place); err != nil {
			t.Fatal(err)
		}
		w.clean(t, place)
	}
}

// abandon deletes the manifests of the unfinished backups. No backup then needs the objects of these backups.
func (w *world) abandon(t *testing.T, place *shelf) {
	t.Helper()
	for _, id := range w.begun {
		if err := place.Delete(t.Context(), "unfinished/"+id); err != nil {
			t.Fatal(err)
		}
	}
	w.begun = nil
}

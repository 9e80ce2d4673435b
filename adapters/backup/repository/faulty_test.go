package repository_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/edm"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

var errFault = errors.New("the place does not answer")

// faulty is a backup location that loses requests and replies. It also carries out requests late, twice, and in
// another order.
type faulty struct {
	objects.Place
	mu     sync.Mutex
	rand   *rand.Rand
	late   []func() // requests that will be carried out later
	counts map[string]int
}

// happens(fault, in) returns true if the fault must occur in a request. The choice is random, and the
// probability is 1/in. The call also carries out some late requests.
func (f *faulty) happens(fault string, in int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rand.IntN(3) == 0 {
		f.arrive(f.rand.IntN(2))
	}
	if f.rand.IntN(in) > 0 {
		return false
	}
	f.counts[fault]++
	return true
}

// arrive carries out some late requests, in any order.
func (f *faulty) arrive(n int) {
	for ; n > 0 && len(f.late) > 0; n-- {
		i := f.rand.IntN(len(f.late))
		f.late[i]()
		f.late = slices.Delete(f.late, i, i+1)
	}
}

func (f *faulty) request(do func() error) error {
	postpone := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late = append(f.late, func() { _ = do() }) // the client has already received an error, so the error of the late request is ignored
	}
	switch {
	case f.happens("lost request", 30):
		return errFault
	case f.happens("late", 30):
		postpone()
		return errFault
	case f.happens("repeated late", 30):
		postpone()
	}
	err := do()
	if f.happens("lost reply", 30) {
		return errFault
	}
	return err
}

func (f *faulty) Put(ctx context.Context, name string, b []byte) error {
	b = bytes.Clone(b)
	return f.request(func() error { return f.Place.Put(ctx, name, b) })
}

func (f *faulty) Delete(ctx context.Context, name string) error {
	return f.request(func() error { return f.Place.Delete(ctx, name) })
}

func (f *faulty) Get(ctx context.Context, name string) ([]byte, error) {
	if f.happens("lost read", 60) {
		return nil, errFault
	}
	return f.Place.Get(ctx, name)
}

func (f *faulty) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	end := -1
	if f.happens("cut list", 30) {
		end = len(prefix) % 4
	}
	return func(yield func(objects.Object, error) bool) {
		for o, err := range f.Place.List(ctx, prefix) {
			if end == 0 {
				yield(objects.Object{}, errFault)
				return
			}
			end--
			if !yield(o, err) {
				return
			}
		}
		if end >= 0 {
			yield(objects.Object{}, errFault)
		}
	}
}

// reader reads the log of a timeline as a secondary does.
type reader struct {
	at  edm.Ticks
	got []edm.Ticks
}

// follow applies all log pieces in the backup location that the reader has not applied yet. It stops at the first
// request that fails.
func (f *reader) follow(t *testing.T, s *story) error {
	t.Helper()
	pieces, _, err := s.r.Behind(t.Context(), s.timeline, f.at, true)
	if err != nil {
		return err
	}
	for i := range pieces {
		_, list, err := s.r.ReadPiece(t.Context(), &pieces[i], s.with)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Number > f.at {
				f.got = append(f.got, c.Number)
			}
		}
		f.at = pieces[i].To
	}
	return nil
}

// TestFaultyPlace checks a backup location that loses, delays, repeats and reorders the requests of a primary, a
// prune, a secondary and a restore. The secondary must have every commit exactly once. Every moment in the period of
// Retention.PointInTime must be restorable.
func TestFaultyPlace(t *testing.T) {
	t.Parallel()
	seeds := 12
	if testing.Short() {
		seeds = 4
	}
	counts, removed, joined := map[string]int{}, 0, 0
	for seed := range uint64(seeds) {
		s := newStory(t, seed)
		first, promise := s.spans["newest"].High, 5*time.Hour
		place := &faulty{Place: s.place, rand: rand.New(rand.NewPCG(seed, 6)), counts: counts}
		s.r = repository.New(place)
		second := &reader{at: s.to}
		for range 60 {
			if s.rand.IntN(8) == 0 {
				done, err := s.r.Join(t.Context(), time.Time{}, s.now)
				if err != nil && !errors.Is(err, errFault) {
					t.Fatalf("seed %d: join: %v", seed, err)
				}
				joined += done.Objects
			}
			switch s.rand.IntN(8) {
			case 0:
				s.backup()
			case 1:
				done, err := s.r.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 1, PointInTime: promise}, Now: s.now})
				if err != nil && !errors.Is(err, errFault) {
					t.Fatalf("seed %d: prune: %v", seed, err)
				}
				if done != nil {
					removed += done.Pieces
				}
			default:
				s.ship()
			}
			s.again(func() error { return second.follow(t, s) })
			if !slices.Equal(second.got, s.commits) {
				t.Fatalf("seed %d: the secondary has %v, want %v", seed, second.got, s.commits)
			}
			at := max(first, edm.TicksOf(s.now.Add(-time.Duration(s.rand.Int64N(int64(promise))))))
			if at <= s.to {
				s.again(func() error { return s.restored(at) })
			}
		}
		place.arrive(len(place.late))
		s.r = repository.New(s.place)
		if p := s.verify().Problems; len(p) > 0 {
			t.Errorf("seed %d: %q", seed, p)
		}
		for _, n := range s.commits {
			if n > max(first, edm.TicksOf(s.now.Add(-promise))) {
				must.OK(t, s.restored(n))
			}
		}
	}
	t.Logf("%v, %d pieces pruned", counts, removed)
	if len(counts) < 6 || removed == 0 || joined == 0 {
		t.Errorf("faults %v, %d pieces pruned, %d joined", counts, removed, joined)
	}
}

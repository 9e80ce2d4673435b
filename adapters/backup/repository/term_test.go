package repository_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

// slow is a backup location whose requests wait a random time before and after they are carried out.
type slow struct {
	objects.Place
	rand *rand.Rand
}

func (s *slow) wait() { time.Sleep(time.Duration(s.rand.IntN(100)) * time.Millisecond) }

func (s *slow) Put(ctx context.Context, name string, b []byte) error {
	s.wait()
	defer s.wait()
	return s.Place.Put(ctx, name, b)
}

func (s *slow) Get(ctx context.Context, name string) ([]byte, error) {
	s.wait()
	defer s.wait()
	return s.Place.Get(ctx, name)
}

func (s *slow) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	s.wait()
	defer s.wait()
	return s.Place.List(ctx, prefix)
}

func (s *slow) Delete(ctx context.Context, name string) error {
	s.wait()
	defer s.wait()
	return s.Place.Delete(ctx, name)
}

// TestPromotedAtOnce promotes several stores at the same moment. At most one promotion may succeed, and its timeline
// must be the newest.
func TestPromotedAtOnce(t *testing.T) {
	t.Parallel()
	won := 0
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			place := newShelf()
			r := repository.New(place)
			first, err := r.BeginTimeline(t.Context(), repository.Timeline{Store: "this"})
			must.OK(t, err)
			const stores = 3
			results := make(chan string, stores)
			for i := range stores {
				rnd := rand.New(rand.NewPCG(seed, uint64(i)))
				go func() {
					time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
					line, err := repository.New(&slow{place, rnd}).BeginTimeline(t.Context(), repository.Timeline{Parent: first.ID, ForkedAt: 1, Store: "this"})
					switch {
					case err == nil:
						results <- line.ID
					case errors.Is(err, repository.ErrReplaced):
						results <- ""
					default:
						t.Error(err)
						results <- ""
					}
				}()
			}
			var promoted []string
			for range stores {
				if id := <-results; id != "" {
					promoted = append(promoted, id)
				}
			}
			all, err := r.Timelines(t.Context())
			must.OK(t, err)
			if n := len(all) - 1; len(promoted) > 1 || len(promoted) != n || n > 0 && all[1].ID != promoted[0] {
				t.Fatalf("seed %d: promoted %q; the place has %+v", seed, promoted, all)
			}
			won += len(promoted)
		})
	}
	if won < 150 {
		t.Errorf("%d promotions of 300 times three were not refused", won)
	}
}

// TestTerms checks that a store cannot ship if a copy of its data directory has a later term or another term with the
// same number. BeginTerm must remove earlier terms, and no object of a term may be mistaken for a timeline.
func TestTerms(t *testing.T) {
	t.Parallel()
	s := newStory(t, 7)
	now, err := s.r.LogOwner(t.Context())
	if must.OK(t, err); now.Term.Number != 0 || now.Check(s.timeline, commitlog.Term{}) != nil {
		t.Fatalf("%+v", now)
	}
	one := repository.NewTerm(commitlog.Term{})
	two, copied := repository.NewTerm(one), repository.NewTerm(one)
	for _, term := range []commitlog.Term{one, two} {
		must.OK(t, s.r.BeginTerm(t.Context(), s.timeline, term, "here"))
		now, err = s.r.LogOwner(t.Context())
		if must.OK(t, err); now.Check(s.timeline, term) != nil {
			t.Errorf("%+v after the term %+v", now, term)
		}
	}
	for _, term := range []commitlog.Term{{}, one, copied} {
		if err := now.Check(s.timeline, term); !errors.Is(err, repository.ErrReplaced) {
			t.Errorf("%+v: %v", term, err)
		}
	}
	if err := now.Check("0123456789abcdef", two); errors.Is(err, repository.ErrReplaced) || !errors.Is(err, repository.ErrElsewhere) {
		t.Errorf("of another store: %v", err)
	}
	if n := s.place.count("timelines/"); n != 2 {
		t.Errorf("%d objects", n)
	}
	all, err := s.r.Timelines(t.Context())
	if must.OK(t, err); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	if err := s.r.BeginTerm(t.Context(), "0123456789abcdef", two, "here"); !errors.Is(err, repository.ErrElsewhere) {
		t.Error(err)
	}
}

// TestMixed checks that VerifyLog detects log pieces of two copies of a data directory. But for one data
// directory, VerifyLog must report no mix, even if a delayed request stored a log piece late.
func TestMixed(t *testing.T) {
	t.Parallel()
	a, b := commitlog.Term{Number: 5, Name: "00000000000000aa"}, commitlog.Term{Number: 6, Name: "00000000000000bb"}
	same := commitlog.Term{Number: 5, Name: "00000000000000cc"}
	for _, tt := range []struct {
		name  string
		terms []commitlog.Term
		late  int // index of the log piece that was made first and stored late; -1 if there is no such piece
		mixed bool
	}{
		{"one after the other", []commitlog.Term{a, a, b, b}, -1, false},
		{"a copy that ships on", []commitlog.Term{a, b, a}, -1, true},
		{"a delayed request", []commitlog.Term{a, b, a}, 2, false},
		{"copies that start at once", []commitlog.Term{a, same}, -1, true},
		{"an earlier version in between", []commitlog.Term{a, {}, b}, -1, false},
	} {
		s := newStory(t, 8)
		for i, term := range tt.terms {
			s.now = s.now.Add(time.Minute)
			p := repository.Piece{Timeline: s.timeline, From: s.to, To: s.tick(), Synced: s.tick(), StartsLog: i == 0, Term: term}
			if i == tt.late {
				p.Synced = 1
			}
			sealed, err := seal(p, nil, nil)
			must.OK(t, err)
			must.OK(t, s.r.Ship(t.Context(), sealed))
			s.to = p.To
		}
		said := strings.Join(s.verify().Problems, "\n")
		if got := strings.Contains(said, "copies of one data directory"); got != tt.mixed {
			t.Errorf("%s: %q", tt.name, said)
		}
	}
}

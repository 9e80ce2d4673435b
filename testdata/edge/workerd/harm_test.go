package workerd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

// recorder keeps the outcome of every call.
type recorder struct {
	durableobject.Caller
	errs []error
}

func (r *recorder) Call(ctx context.Context, calls []durableobject.Call) []durableobject.Answer {
	answers := r.Caller.Call(ctx, calls)
	for _, a := range answers {
		r.errs = append(r.errs, a.Err)
	}
	return answers
}

func recorded(t *testing.T, p *workerd.Place, attempts int) (table.Store, *recorder) {
	t.Helper()
	r := &recorder{Caller: p.Caller()}
	s, err := durableobject.New(durableobject.Options{Caller: r, Now: wallClock, Rand: rand.Uint64, Attempts: attempts})
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// Faults of an insert, the outcome that the shell reports, and the result.
func TestFaults(t *testing.T) {
	const anything = -1
	for _, tt := range []struct {
		why    string
		faults workerd.Faults
		shell  error // of the first attempt
		want   error
		there  int
	}{
		{"a full queue says so before it takes a message", workerd.Faults{Messages: []string{"overloaded"}}, durableobject.ErrOverloaded, table.ErrBusy, 0},
		{"what may be tried again may have been done", workerd.Faults{Messages: []string{"retryable"}}, durableobject.ErrLost, nil, 1},
		{"any other error too", workerd.Faults{Messages: []string{"plain"}}, durableobject.ErrLost, nil, 1},
		{"the reply is lost, the object remembers", workerd.Faults{Messages: []string{"reply"}}, durableobject.ErrLost, nil, 1},
		{"it is lost twice", workerd.Faults{Messages: []string{"reply", "reply"}}, durableobject.ErrLost, nil, 1},
		{"the message arrives twice", workerd.Faults{Messages: []string{"twice"}}, nil, nil, 1},
		{"twice, and its replies are lost", workerd.Faults{Messages: []string{"reply", "twice"}}, durableobject.ErrLost, nil, 1},
		{"the object is evicted, and wakes for it", workerd.Faults{Messages: []string{"evicted"}}, nil, nil, 1},
		{"it is evicted between the write and the reply", workerd.Faults{Messages: []string{"evicting"}}, durableobject.ErrLost, table.ErrUnknown, anything},
		{"the reply is lost, and it is evicted", workerd.Faults{Messages: []string{"reply", "evicted"}}, durableobject.ErrLost, table.ErrUnknown, 1},
		{"the module is trapped, nothing is left", workerd.Faults{Steps: []string{"trap"}}, nil, nil, 1},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := server.NewPlace(wallClock)
			p.Age()
			s, calls := recorded(t, p, 3)
			create(t, s)
			if _, err := s.Commit(t.Context(), people, inserts("before", 1)); err != nil {
				t.Fatal(err)
			}
			calls.errs = nil
			p.Meet(tt.faults)
			// An object that was made anew is three hours old again, by the rules of the
			// place; it shall not be.
			if slices.ContainsFunc(tt.faults.Messages, func(f string) bool { return strings.HasPrefix(f, "evict") }) {
				p.Young()
			}
			_, err := s.Commit(t.Context(), people, inserts("a", 1))
			if !errors.Is(err, tt.want) {
				t.Errorf("the insert: %v, want %v", err, tt.want)
			}
			if !errors.Is(calls.errs[0], tt.shell) {
				t.Errorf("the calls: %v, want first %v", calls.errs, tt.shell)
			}
			if n := count(t, s, "a"); n != tt.there && tt.there != anything {
				t.Errorf("there are %d entities, want %d", n, tt.there)
			}
			if n := count(t, s, "before"); n != 1 {
				t.Errorf("of what was there before, %d", n)
			}
		})
	}
}

// The module traps after the catalog has marked the table and the bucket has
// dropped: the outcome is not "nothing happened".
func TestTrapBehindCalls(t *testing.T) {
	p := server.NewPlace(wallClock)
	p.Age()
	s, calls := recorded(t, p, 1)
	revision := create(t, s)
	if _, err := s.Commit(t.Context(), people, inserts("a", 3)); err != nil {
		t.Fatal(err)
	}
	calls.errs = nil
	p.Meet(workerd.Faults{Steps: []string{"mark", "drop", "trap", "trap"}})
	if err := s.Drop(t.Context(), people, revision); !errors.Is(err, table.ErrUnknown) || !errors.Is(calls.errs[0], durableobject.ErrLost) {
		t.Errorf("Drop: %v, the call: %v", err, calls.errs)
	}
	if _, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}}); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("the table: %v", err)
	}
}

// Messages and steps of deletions fail, one after the other: whatever Drop answers,
// the name becomes free and nothing of the old incarnation is left.
func TestDropFaults(t *testing.T) {
	for at := range 5 {
		for _, kind := range []string{"retryable", "reply", "twice", "evicted", "evicting", "trap"} {
			t.Run(fmt.Sprintf("%s/%d", kind, at), func(t *testing.T) {
				p := server.NewPlace(wallClock)
				s := openStore(t, p, wallClock, 1)
				revision := create(t, s)
				if _, err := s.Commit(t.Context(), people, inserts("a", 3)); err != nil {
					t.Fatal(err)
				}
				list := append(slices.Repeat([]string{"none"}, at), kind)
				f := workerd.Faults{Messages: list}
				if kind == "trap" {
					f = workerd.Faults{Steps: list}
				}
				p.Meet(f)
				if err := s.Drop(t.Context(), people, revision); err != nil && !errors.Is(err, table.ErrUnknown) {
					t.Errorf("Drop: %v", err)
				}
				p.Meet(workerd.Faults{})
				if _, err := s.ReadRecord(t.Context(), people); err == nil {
					// The message was lost with the object that had it.
					if err := s.Drop(t.Context(), people, revision); err != nil {
						t.Fatalf("a second Drop: %v", err)
					}
				}
				create(t, s)
				if n := count(t, s, "a"); n != 0 {
					t.Errorf("of the old life there are %d entities", n)
				}
			})
		}
	}
}

// A failed alarm, or one whose object died, is repeated and does its work then. The
// clock of the place is late, so that alarms ring at once.
func TestAlarm(t *testing.T) {
	for name, faults := range map[string]workerd.Faults{
		"alarm": {Alarms: 1},
		// Nothing but the alarm reads ranges, and it tries twice: the four steps of Drop do not mind.
		"object": {Steps: slices.Repeat([]string{"unread"}, 6)},
	} {
		t.Run(name, func(t *testing.T) {
			late := func() edm.Ticks { return wallClock() - 3600*edm.TicksPerSecond }
			p := server.NewPlace(late)
			s := openStore(t, p, late, 1)
			revision := create(t, s)
			if _, err := s.Commit(t.Context(), people, inserts("a", 1)); err != nil {
				t.Fatal(err)
			}
			// No bucket drops while Drop waits.
			faults.Messages = []string{"none", "plain", "plain", "plain"}
			p.Meet(faults)
			if err := s.Drop(t.Context(), people, revision); !errors.Is(err, table.ErrUnknown) {
				t.Fatalf("Drop: %v", err)
			}
			const deleting = 'x'
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if n, err := p.Count(ctx, "catalog/acct", deleting); n != 1 {
				t.Fatalf("behind Drop %d tables are being deleted, %v", n, err)
			}
			for {
				n, err := p.Count(ctx, "catalog/acct", deleting)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					return
				}
				time.Sleep(20 * time.Millisecond) // it comes in real time
			}
		})
	}
}

// chaos is random faults of the first messages and steps of a call.
func chaos(seed uint64, length int, kinds ...string) func() workerd.Faults {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 7))
	return func() (f workerd.Faults) {
		mu.Lock()
		defer mu.Unlock()
		for range length {
			kind, list := "none", &f.Messages
			if r.IntN(4) == 0 {
				kind = kinds[r.IntN(len(kinds))]
			}
			if kind == "trap" {
				list = &f.Steps
			}
			*list = append(*list, kind)
		}
		return f
	}
}

// Messages of a Worker and replies are lost, others arrive twice, and objects never
// forget: every write is carried out once, and no outcome is unknown.
func TestLossy(t *testing.T) {
	h := func(t testing.TB, now func() edm.Ticks) storetest.Place {
		p := server.NewPlace(now)
		p.Age()
		p.Chaos(chaos(1, 1, "plain", "retryable", "reply", "twice"))
		s, err := durableobject.New(durableobject.Options{Caller: p.Caller(), Now: now, Rand: rand.Uint64, Buckets: 2, Attempts: 100})
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Place{Store: s, Strengths: strengths(2), Remote: true}
	}
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

func isFailed(err error) bool {
	_, ok := errors.AsType[*durableobject.FailedError](err)
	return ok
}

// All faults happen at random, and one writer keeps account: it inserts only
// entities that do not exist, deletes only existing ones, and updates states that
// it has seen. So any refusal would be a write carried out twice, or one answered
// and not done.
func TestOutcomes(t *testing.T) {
	p := server.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	create(t, s)
	var known, unknown int
	harm := chaos(2, 6, "overloaded", "plain", "retryable", "reply", "twice", "evicted", "evicting", "trap")
	state := make(map[string]edm.Ticks) // 0 nothing
	r := rand.New(rand.NewPCG(3, 7))
	for i := range 400 {
		row := string(rune('a' + r.IntN(3)))
		m := table.Mutation{Key: key.Append(nil, "p", row), Nonce: uint64(i)}
		switch ticks := state[row]; {
		case ticks == 0:
			m.Condition = table.Absent
		case r.IntN(2) == 0:
			m.Kind, m.Condition = table.Delete, table.Present
		default:
			m.Condition, m.IfMatch = table.Unchanged, ticks
		}
		p.Chaos(harm)
		ticks, err := s.Commit(t.Context(), people, []table.Mutation{m})
		switch {
		case err == nil && m.Kind == table.Delete:
			known++
			state[row] = 0
		case err == nil:
			known++
			state[row] = ticks
		case errors.Is(err, table.ErrBusy) || isFailed(err):
		case errors.Is(err, table.ErrUnknown):
			unknown++
			p.Meet(workerd.Faults{})
			switch found, err := s.Get(t.Context(), people, m.Key, table.Strong); {
			case err == nil:
				state[row] = found.Timestamp
			case errors.Is(err, table.ErrNoEntity):
				state[row] = 0
			default:
				t.Fatal(err)
			}
		default:
			t.Fatalf("write %d of %s, kind %d if %d: %v", i, row, m.Kind, m.Condition, err)
		}
	}
	if known < 100 || unknown == 0 {
		t.Errorf("%d writes known, %d unknown", known, unknown)
	}
}

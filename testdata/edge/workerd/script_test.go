package workerd_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/testdata/edge/workerd"
	waiting "edgetable/testdata/must"
)

// TestScripts runs the test scripts in faults.txt, which also explains their commands.
func TestScripts(t *testing.T) { storetest.PlayFile(t, "faults.txt", newStage) }

// stage runs one test script. The Durable Objects of the script run in workerd.
type stage struct {
	*storetest.Stage
	*recorder
	place  *workerd.Place
	clock  edm.Ticks // the current time, which the script changes
	faults workerd.Faults
}

// recorder stores the error of every call.
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

func newStage(t *testing.T) *storetest.Stage {
	s := &stage{clock: wallClock()}
	s.place = server.NewPlace(s.now)
	s.recorder = &recorder{Caller: s.place.Caller()}
	s.Stage = &storetest.Stage{Commands: map[string]func(args, block []string) string{
		"worker":   s.worker,
		"aged":     func(_, _ []string) string { s.place.Age(); return "ok" },
		"young":    func(_, _ []string) string { s.place.Young(); return "ok" },
		"next":     func(args, _ []string) string { s.faults.Messages = kinds(t, args); return s.meet() },
		"steps":    func(args, _ []string) string { s.faults.Steps = kinds(t, args); return s.meet() },
		"alarms":   func(args, _ []string) string { s.faults.Alarms = number(args); return s.meet() },
		"first":    s.first,
		"disk":     func(args, _ []string) string { s.place.FailAfter(number(args)); return "ok" },
		"then":     s.then,
		"restart":  func(_, _ []string) string { s.place.Restart(s.now); return "ok" },
		"deleting": s.deleting,
		"deleted":  s.deleted,
		"woken-in": func(_, _ []string) string {
			at := storage(t, s.place, durableobject.Catalog(people.Account, "").Name).Alarm
			return time.UnixMilli(int64(at)).Sub(s.clock.Time()).Round(time.Second).String()
		},
		"stored": func(args, _ []string) string { return s.stored(t, args[0]) },
	}}
	s.worker([]string{"3"}, nil)
	return s.Stage
}

func (s *stage) now() edm.Ticks { return s.clock }

// worker opens a store. The argument is the number of times that the store sends a message to an object
// before it gives up.
func (s *stage) worker(args, _ []string) string {
	store, err := durableobject.New(durableobject.Options{Caller: s.recorder, Now: s.now, Rand: rand.Uint64, Attempts: number(args)})
	s.Store = store
	return storetest.Outcome(err)
}

func number(args []string) int {
	n, _ := strconv.Atoi(args[0])
	return n
}

// meet makes the faults that the script has set apply to the next call of an object.
func (s *stage) meet() string {
	s.place.Meet(s.faults)
	s.errs = nil
	return "ok"
}

// kinds converts the words for faults in a script to the names of faults in faults.mjs.
func kinds(t *testing.T, args []string) (list []string) {
	fates := storetest.ParseFates(args)
	for _, words := range fates.All() {
		kind, ok := map[string]string{
			"ok": "none", "lose": "plain", "lose-retryable": "retryable", "lose-reply": "reply", "overloaded": "overloaded", "twice": "twice",
			"evict": "evicted", "evict-reply": "evicting", "trap": "trap", "unread": "unread",
		}[words[0]]
		if !ok {
			t.Fatalf("%s: no fate", words[0])
		}
		list = append(list, kind)
	}
	return list
}

// first sends the first message to an object after the script has set faults, and returns the result.
func (s *stage) first(_, _ []string) string {
	switch err := s.errs[0]; {
	case errors.Is(err, durableobject.ErrLost):
		return "lost"
	case errors.Is(err, durableobject.ErrOverloaded):
		return "overloaded"
	default:
		return storetest.Outcome(err)
	}
}

func (s *stage) then(args, _ []string) string {
	d, err := time.ParseDuration(args[0])
	s.clock += edm.Ticks(d / 100)
	return storetest.Outcome(err)
}

// deleting returns the number of tables being deleted.
func (s *stage) deleting(_, _ []string) string {
	n, err := s.place.Count(s.TB.Context(), "catalog/acct", 'x')
	return strings.TrimSuffix(strconv.Itoa(n)+" "+storetest.Outcome(err), " ok")
}

// deleted waits for the end of all deletions of tables. Alarms of Durable Objects continue a deletion, in
// real time.
func (s *stage) deleted(_, _ []string) string {
	waiting.Eventually(s.TB, "the deleted tables are gone", new(strings.Builder), func() bool { return s.deleting(nil, nil) == "0" })
	return "ok"
}

// stored says whether an object has SQL tables or an alarm.
func (s *stage) stored(t *testing.T, object string) string {
	name := map[string]string{
		"bucket": durableobject.Range(people.String(), 1, 0, 0, "").Name, "catalog": durableobject.Catalog(people.Account, "").Name,
	}[object]
	switch got := storage(t, s.place, name); {
	case slices.Contains(got.Tables, "r"):
		return "rows"
	case len(got.Tables) > 0 || got.Alarm != 0:
		return "something"
	}
	return "nothing"
}

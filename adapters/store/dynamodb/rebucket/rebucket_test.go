package rebucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"edgetable/core/key"
	"edgetable/core/table"
)

// world is a Store in memory. For each Spread (incarnation and bucket count), it contains
// the states of entities by their keys.
type world struct {
	record Location
	rows   map[Spread]map[string]Head
	now    time.Duration
	random uint64
	pages  int // number of rows in a page that the method Heads returns
}

var people = table.RecordKey{Account: "acct", Table: "people"}

func newWorld(rows int) *world {
	from := Spread{table.Incarnation{1}, 3}
	w := &world{record: Location{Spread: from}, rows: map[Spread]map[string]Head{from: {}}, pages: 4}
	for i := range rows {
		w.put(fmt.Sprint("p", i), 1)
	}
	return w
}

// put writes an entity to the table, not to its copy.
func (w *world) put(partition string, ticks int) {
	k := key.Append(nil, partition, "r")
	w.rows[w.record.Spread][string(k)] = Head{Key: k, Ticks: fmt.Sprint(ticks), Nonce: "1", Size: 100}
}

func (w *world) Change(_ context.Context, k table.RecordKey, change func(Location) (Location, error)) error {
	if k != people {
		return table.ErrNoTable
	}
	to, err := change(w.record)
	if err == nil {
		w.record = to
	}
	return err
}

func (w *world) Heads(_ context.Context, p Spread, bucket uint16, start []byte, _ int) (page []Head, next []byte, err error) {
	for _, k := range slices.Sorted(maps.Keys(w.rows[p])) {
		if p.Bucket([]byte(k)) != bucket || bytes.Compare([]byte(k), start) < 0 {
			continue
		}
		if len(page) == w.pages {
			return page, []byte(k), nil
		}
		page = append(page, w.rows[p][k])
	}
	return page, nil, nil
}

func (w *world) Copy(ctx context.Context, _ table.RecordKey, l Location, d []Difference, alive func(context.Context) error) (done Copied, err error) {
	if l.Spread != w.record.Spread || l.Target != w.record.Target || l.Owner != w.record.Owner {
		return done, errors.New("the record changed")
	}
	copied := w.rows[l.Target]
	if copied == nil {
		copied = make(map[string]Head)
		w.rows[l.Target] = copied
	}
	for _, one := range d[:min(len(d), 7)] {
		if h, ok := w.rows[l.Spread][string(one.Key)]; ok {
			copied[string(one.Key)] = h
			done.Copied++
		} else {
			delete(copied, string(one.Key))
			done.Deleted++
		}
		done.Taken++
	}
	return done, nil
}

func (w *world) env() Env {
	return Env{
		Store: w, Elapsed: func() time.Duration { return w.now }, Grace: 2 * time.Second, Deadline: time.Minute,
		Sleep: func(_ context.Context, d time.Duration) error { w.now += d; return nil },
		Rand:  func() uint64 { w.random++; return w.random },
	}
}

// TestRun checks that a run replaces the table by the copy, and that the copy has all
// changes that were made before writes were refused.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, count := range []uint16{1, 2, 7} {
		w := newWorld(50)
		var states []State
		err := Run(t.Context(), w.env(), people, Options{Buckets: count, Report: func(p Progress) error {
			if len(states) == 0 || states[len(states)-1] != p.State {
				states = append(states, p.State)
			}
			if p.State == Closing {
				w.put("p7", 2)
				w.put("new", 2)
				delete(w.rows[w.record.Spread], string(key.Append(nil, "p8", "r")))
			}
			return nil
		}})
		if err != nil || !slices.Equal(states, []State{Copying, Closing, Last, Done}) {
			t.Fatalf("to %d buckets: %v, states %v", count, err, states)
		}
		got, want := w.rows[w.record.Spread], w.rows[Spread{table.Incarnation{1}, 3}]
		if w.record.Buckets != count || !w.record.None() || !maps.EqualFunc(got, want, func(a, b Head) bool { return a.Same(&b) }) {
			t.Errorf("to %d buckets: the record is %+v, the copy has %d entities of %d", count, w.record, len(got), len(want))
		}
	}
}

// TestRunEnds changes the table's record during a run, once at each step of the run.
// The change must end the run with the right error. Afterwards, the table must accept
// writes.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what   string
		change func(l *Location)
		want   error
	}{
		{"another run takes over", func(l *Location) { l.Move = Move{Target: l.Target, Owner: "other"} }, ErrSuperseded},
		{"another run finishes", func(l *Location) { *l = Location{Spread: l.Target} }, ErrSuperseded},
		{"an abort", func(l *Location) { l.Move = Move{} }, ErrAborted},
		{"the seal is lifted", func(l *Location) { l.Move = l.Released() }, ErrSilent},
		{"the table is created again", func(l *Location) { *l = Location{Spread: Spread{table.Incarnation{9}, 3}} }, table.ErrNoTable},
	} {
		for _, at := range []State{Copying, Closing, Last} {
			w := newWorld(20)
			begun := false
			err := Run(t.Context(), w.env(), people, Options{Buckets: 5, Report: func(p Progress) error {
				if p.State == Closing {
					w.put("new", 2) // a difference that the last pass must copy
				}
				if p.State == at && !begun {
					begun = true
					row.change(&w.record)
				}
				return nil
			}})
			if !errors.Is(err, row.want) {
				t.Errorf("%s at %q: %v, want %v", row.what, at, err, row.want)
			}
			if w.record.Seal != Open {
				t.Errorf("%s at %q: the record has a seal", row.what, at)
			}
		}
	}
}

// TestResume checks that a run with the same number of buckets resumes an earlier run,
// and that a run with another number is refused. It also checks MaxPause and Abort.
func TestResume(t *testing.T) {
	t.Parallel()
	w := newWorld(20)
	slow := func(Progress) error { w.now += time.Second; return nil }
	var pause *PauseError
	if err := Run(t.Context(), w.env(), people, Options{Buckets: 5, MaxPause: 3 * time.Second, Report: slow}); !errors.As(err, &pause) {
		t.Fatalf("a pause that is too long: %v", err)
	}
	target := w.record.Target
	var unfinished *UnfinishedError
	if err := Run(t.Context(), w.env(), people, Options{Buckets: 6}); !errors.As(err, &unfinished) || unfinished.Buckets != 5 {
		t.Errorf("another number: %v", err)
	}
	copied := 0
	if err := Run(t.Context(), w.env(), people, Options{Buckets: 5, Report: func(p Progress) error { copied += p.Copied; return nil }}); err != nil {
		t.Errorf("resumed: %v", err)
	}
	if copied != 0 || w.record.Spread != target {
		t.Errorf("resumed: %d entities were copied again", copied)
	}
	var last State
	report := func(p Progress) error { last = p.State; return nil }
	if err := Run(t.Context(), w.env(), people, Options{Buckets: 5, Report: report}); err != nil || last != Unchanged {
		t.Errorf("the number it has: %v, %v", err, last)
	}
	w.record.Move = Move{Target: Spread{table.Incarnation{7}, 2}, Owner: "dead", Seal: Sealed, Beat: 3}
	if err := Run(t.Context(), w.env(), people, Options{Abort: true, Report: report}); err != nil || last != Aborted || w.record.Move != (Move{}) {
		t.Errorf("abort: %v, %v, %+v", err, last, w.record)
	}
	if err := Run(t.Context(), w.env(), people, Options{Abort: true, Report: report}); err != nil || last != Unchanged {
		t.Errorf("nothing to abort: %v, %v", err, last)
	}
}

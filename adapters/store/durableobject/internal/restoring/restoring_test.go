package restoring

import (
	"fmt"
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const second = edm.TicksPerSecond

// TestForms checks that a restore and a change are parsed as they were encoded, and that truncated bytes are refused.
func TestForms(t *testing.T) {
	t.Parallel()
	r := &Restore{
		ID: 1 << 63, Phase: Undoing, Undo: true, To: 1, StartedAt: 2, Deadline: 3, OldIncarnation: table.Incarnation{4}, IncarnationAtTo: table.Incarnation{5}, NewIncarnation: table.Incarnation{6}, High: 7, Reason: "why",
		Objects: []Returned{
			{Object: message.Object{Bucket: 8, Range: 1 << 31}, Returns: true, Done: true, Bounds: key.Range{Start: []byte("a"), End: []byte("b")}, State: []byte("s"), FrozenState: []byte("t")},
			{},
		},
	}
	b := r.Append(nil)
	if got, ok := Read(message.Read(b)); !ok || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v comes back as %+v, %t", r, got, ok)
	}
	c := Change{Sealed: 1, From: 2, To: 3, Keys: key.Range{Start: []byte("a"), End: []byte("b")}, Restored: true, OldIncarnation: table.Incarnation{4}, Map: buckets.Ranges{{ID: 5}, {ID: 6, Start: []byte("m")}}}
	v := c.Append(nil)
	if got, ok := ReadChange(v); !ok || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v comes back as %+v, %t", c, got, ok)
	}
	for n := range b {
		if _, ok := Read(message.Read(b[:n])); ok {
			t.Errorf("the first %d bytes of a restore are read", n)
		}
	}
	for n := range v {
		if _, ok := ReadChange(v[:n]); ok {
			t.Errorf("the first %d bytes of a change are read", n)
		}
	}
}

// TestAdvance checks that a restore enters its next phase when all objects have finished the current one. If
// there is a reason to cancel the restore, it must end as Cancelled. Such a reason only counts before any
// object serves.
func TestAdvance(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		phase      Phase
		why        string
		done       bool
		left       edm.Ticks
		tells      bool
		want       Phase
		everything bool // whether each object has work in the next phase
	}{
		{Freezing, "", false, 5, false, Freezing, false},
		{Freezing, "", true, 5, false, Returning, true},
		{Freezing, "why", false, 5, false, Cancelled, true},
		{Freezing, "why", true, 5, false, Cancelled, true},
		{Returning, "", false, 5, false, Returning, false},
		{Returning, "", true, 5, true, Settling, true},
		{Returning, "why", false, 5, false, Undoing, true},
		{Settling, "", false, 5, true, Settling, false},
		{Settling, "", true, 5, true, Telling, true},
		{Settling, "", true, 5, false, Finished, true},
		{Telling, "", false, 5, true, Telling, false},
		{Telling, "", false, 0, true, Finished, true},
		{Undoing, "why", false, 5, false, Undoing, false},
		{Undoing, "why", true, 5, false, Cancelled, true},
	} {
		r := Restore{Phase: row.phase, Reason: row.why, Deadline: 100*second + row.left, Objects: []Returned{{Done: true}, {Done: row.done}}}
		r.Advance(100*second, row.tells)
		if r.Phase != row.want || r.Objects[0].Done == row.everything {
			t.Errorf("%+v: phase %d, done %t", row, r.Phase, r.Objects[0].Done)
		}
		abandoned := r.Abandoned(r.Deadline + 1)
		if abandoned != (r.Phase == Freezing) || r.Abandoned(r.Deadline) {
			t.Errorf("%+v: abandoned %t", row, abandoned)
		}
	}
}

// TestApart checks that StableTimes returns the nearest times at which no keys were moving for a minute.
func TestApart(t *testing.T) {
	t.Parallel()
	all := []Change{{Sealed: 1000 * second, LearnedAt: 1001 * second}, {Sealed: 1100 * second, LearnedAt: 1200 * second}, {Sealed: 2000 * second, LearnedAt: 2000 * second}}
	for _, row := range []struct{ to, before, after edm.Ticks }{
		{900, 900, 900}, {940, 940, 940}, {941, 940, 1260}, {1000, 940, 1260}, {1060, 940, 1260}, {1259, 940, 1260}, {1260, 1260, 1260},
		{1940, 1940, 1940}, {2000, 1940, 2060}, {2060, 2060, 2060},
	} {
		if before, after := StableTimes(all, row.to*second); before != row.before*second || after != row.after*second {
			t.Errorf("%d: %d to %d", row.to, before/second, after/second)
		}
	}
}

// TestUndo checks that undoing the changes of a bucket's ranges one by one yields each earlier list of
// ranges.
func TestUndo(t *testing.T) {
	t.Parallel()
	at := func(s string) []byte { return []byte(s) }
	m := buckets.Ranges{{ID: 2}, {ID: 3, Start: at("m")}}
	for _, row := range []struct {
		change Change
		want   string
	}{
		{Change{From: 0, Keys: key.Range{End: at("c")}}, "[0@ 2@c 3@m]"},
		{Change{From: 2, To: 3}, "[0@ 2@c]"},
		{Change{From: 0, To: 2}, "[0@]"},
		{Change{Restored: true, Map: buckets.Ranges{{ID: 7}}}, "[7@]"},
	} {
		before, ok := row.change.Undo(m)
		got := make([]string, len(before))
		for i, r := range before {
			got[i] = fmt.Sprintf("%d@%s", r.ID, r.Start)
		}
		if fmt.Sprint(got) != row.want || !ok {
			t.Errorf("%+v: %s, want %s", row.change, got, row.want)
		}
		m = before
	}
	for _, c := range []Change{{From: 1, To: 9}, {From: 7, Keys: key.Range{End: at("c")}}, {From: 8, Keys: key.Range{Start: at("b"), End: at("c")}}} {
		if before, ok := c.Undo(m); ok {
			t.Errorf("%+v leads to %v", c, before)
		}
	}
}

package main

import (
	"context"
	"testing"

	"edgetable/adapters/durableobject"
	"edgetable/adapters/durableobject/object"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// catalog calls one object.
type catalog struct {
	*object.Object
	rows object.Rows
}

func (c catalog) Call(_ context.Context, calls []durableobject.Call) []durableobject.Answer {
	return []durableobject.Answer{{Message: c.Handle(c.rows, calls[0].Message, nil, nil).Answer}}
}

// A batch is published as the objects want it, and what fails is told.
func TestPublish(t *testing.T) {
	t.Parallel()
	now := 1000 * edm.Ticks(edm.TicksPerSecond)
	clock, random := func() edm.Ticks { return now }, func() uint64 { return 7 }
	c := catalog{object.New(object.Options{Now: clock, Rand: random, Replica: "replica"}), &storage{rows: make(map[string]string)}}
	store, err := durableobject.New(durableobject.Options{Caller: c, Now: clock, Rand: random})
	if err != nil {
		t.Fatal(err)
	}
	d := table.Document{Key: "table/acme/people", Value: []byte("{}"), Layout: table.Layout{Incarnation: table.Incarnation{1}}}
	if _, err := store.WriteDocument(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	now += 2 * edm.TicksPerSecond
	step := c.Handle(c.rows, object.Alarm(), nil, nil)
	if len(step.Calls) != 1 || step.Calls[0].Object != durableobject.Replica {
		t.Fatalf("the alarm wants %v", step.Calls)
	}
	for became, want := range []durableobject.Published{
		kvDone:    {Certain: true, Marked: true, Done: []bool{true}},
		kvRefused: {Certain: true, Marked: true, Done: []bool{false}},
		kvFailed:  {Failed: true, Marked: true, Done: []bool{false}},
	} {
		if want.Done == nil {
			continue
		}
		var names []string
		h := host{now: clock, log: func(int, []byte) {}, kv: func(request frames) frames {
			names = append(names, string(split(t, request)[1]))
			return frames(nil).add([]byte{byte(became)}).addText("on fire")
		}}
		got := (&publisher{h}).publish(nil, step.Calls[0].Message)
		if string(got) != string(want.Append(nil)) || len(names) != 1 || names[0] != "dtable/acme/people" {
			t.Errorf("what became %d: %v, of %q", became, got, names)
		}
	}
}

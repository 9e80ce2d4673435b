package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// catalog is a durableobject.Caller that calls one object.
type catalog struct {
	*engine.Engine
	rows engine.Rows
}

func (c catalog) Call(_ context.Context, calls []durableobject.Call) []durableobject.Answer {
	return []durableobject.Answer{{Message: c.Handle(c.rows, calls[0].Message, nil, nil).Answer}}
}

// TestPublish checks that the module publishes a batch as the objects request it, and that it reports failures.
func TestPublish(t *testing.T) {
	t.Parallel()
	now := 1000 * edm.Ticks(edm.TicksPerSecond)
	clock, random := func() edm.Ticks { return now }, func() uint64 { return 7 }
	c := catalog{engine.New(engine.Options{Now: clock, Rand: random, Replica: "replica"}), &storage{rows: make(map[string]string)}}
	store, err := durableobject.New(durableobject.Options{Caller: c, Now: clock, Rand: random})
	if err != nil {
		t.Fatal(err)
	}
	d := table.Record{Key: table.RecordKey{Account: "acme", Table: "people"}, Value: []byte("{}"), Incarnation: table.Incarnation{1}}
	if _, err := store.WriteRecord(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	now += 2 * edm.TicksPerSecond
	step := c.Handle(c.rows, engine.Alarm(), nil, nil)
	if len(step.Calls) != 1 || step.Calls[0].To != durableobject.Replica {
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
			parts := split(t, request)
			if end := math.Float64frombits(binary.LittleEndian.Uint64([]byte(parts[1]))); parts[0] != "w" || end != unixMilli(now+4*edm.TicksPerSecond) || len(parts) != 5 {
				t.Errorf("the shell was asked %q", parts)
			}
			names = append(names, parts[2])
			return frames(nil).add([]byte{kvDone}).addText(string(byte(became)) + "on fire")
		}}
		got := (&publisher{h}).publish(nil, step.Calls[0].Message)
		if string(got) != string(want.Append(nil)) || len(names) != 1 || names[0] != "\x00dtable/acme/people" {
			t.Errorf("what became %d: %v, of %q", became, got, names)
		}
	}
}

// TestPublishPurge checks that a purge of a table also deletes the lag reports of all its buckets, even if this
// needs more than one batch. No batch may make more calls than an invocation of a Worker may.
func TestPublishPurge(t *testing.T) {
	t.Parallel()
	now := 1000 * edm.Ticks(edm.TicksPerSecond)
	life := table.Incarnation{1}
	marks := map[string]bool{}
	for n := range uint16(300) {
		marks["s"+durableobject.SourceOf(life, n, 0)] = true
	}
	marks["s"+durableobject.SourceOf(table.Incarnation{2}, 0, 0)] = true
	calls := 0
	h := host{now: func() edm.Ticks { return now }, log: func(int, []byte) {}, kv: func(request frames) frames {
		parts := split(t, request)
		if calls++; parts[0] == "l" {
			answer := frames(nil).add([]byte{kvDone}).addText("")
			for name := range marks {
				if limit := binary.LittleEndian.Uint32([]byte(parts[3])); strings.HasPrefix(name, parts[1]) && answer.count() < int(2+2*limit) {
					answer = answer.addText(name).addText("")
				}
			}
			return answer
		}
		answer := frames(nil).add([]byte{kvDone})
		for i := 2; i < len(parts); i, calls = i+3, calls+1 {
			if end := math.Float64frombits(binary.LittleEndian.Uint64([]byte(parts[1]))); unixMilli(now) >= end {
				answer = answer.add([]byte{kvRefused})
				continue
			}
			now += edm.TicksPerSecond / 20
			delete(marks, parts[i][1:])
			answer = answer.add([]byte{kvDone})
		}
		return answer
	}}
	for n, more := 0, true; more; n++ {
		calls = 0
		to := workerskv.NewPublisher(&namespace{call: h.kv, writesUntil: now + writeTime}, h.now)
		more, _ = to.Purge(t.Context(), life, durableobject.SourcesOf(life), purgeStep)
		if calls > 1000 || n == 100 {
			t.Fatalf("after %d batches %d marks are left, and the last made %d calls", n, len(marks), calls)
		}
		now += 60 * edm.TicksPerSecond
	}
	if len(marks) != 1 {
		t.Errorf("%d marks are left", len(marks))
	}
}

// TestReplication checks that the age of the replica is that of the object with the longest lag, and at least three
// minutes. The replica must be unavailable while an object lags for long, and until KV could be read.
func TestReplication(t *testing.T) {
	t.Parallel()
	const minute = 60 * edm.TicksPerSecond
	now := edm.Ticks(1000 * minute)
	var since edm.Ticks // the time since which an object lags; 0 if none lags
	var lags, broken bool
	h := host{now: func() edm.Ticks { return now }, log: func(int, []byte) {}}
	marks := make(map[string]string) // lag reports in KV; a report has the time up to which an object has published its changes
	h.kv = func(request frames) frames {
		parts := split(t, request)
		switch {
		case broken:
			return frames(nil).add([]byte{kvFailed}).addText("on fire")
		case parts[0] == "w":
			marks[parts[2][1:]] = parts[4]
			return frames(nil).add([]byte{kvDone}).add([]byte{kvDone})
		}
		answer := frames(nil).add([]byte{kvDone}).addText("")
		for name, about := range marks {
			if strings.HasPrefix(name, parts[1]) {
				answer = answer.addText(name).addText(about)
			}
		}
		return answer
	}
	r := withReplica(&durableobject.Store{}, h).(*reader)
	for _, step := range []struct {
		why    string
		then   func()
		want   table.ReplicationStatus
		behind edm.Ticks // expected age of the replica; 0 if it is unknown
	}{
		{"KV cannot be read, from the start", func() { broken = true }, table.Unavailable, 0},
		{"nothing lags", func() { broken = false }, table.Live, 3 * minute},
		{"an object lags", func() { lags, since = true, now-10*minute }, table.Live, 10 * minute},
		{"for long", func() { since = now - 16*minute }, table.Unavailable, 16 * minute},
		{"KV cannot be read", func() { broken = true }, table.Unavailable, 17 * minute},
		{"nothing lags any more", func() { broken, lags = false, false }, table.Live, 3 * minute},
		{"KV cannot be read, and what is known is young", func() { broken = true }, table.Live, 4 * minute},
		{"a table is published for the first time", func() { broken, lags, since = false, true, 0 }, table.Bootstrap, 0},
	} {
		step.then()
		if clear(marks); lags {
			to := workerskv.NewPublisher(&namespace{call: h.kv, writesUntil: now + writeTime}, h.now)
			if err := to.Synced(t.Context(), "one", since); err != nil && !broken {
				t.Fatal(err)
			}
		}
		got, want := r.Replication(), table.Replication{Status: step.want}
		if step.behind != 0 {
			want.LastSync = now - step.behind
		}
		if got != want {
			t.Errorf("%s: %v, %v ago; want %v, %v ago", step.why, got.Status, (now-got.LastSync)/edm.TicksPerSecond, want.Status, (now-want.LastSync)/edm.TicksPerSecond)
		}
		now += minute
	}
}

// TestNamespaceWrite checks that each write has the outcome that the JavaScript shell reports. A write without a report
// counts as not carried out.
func TestNamespaceWrite(t *testing.T) {
	t.Parallel()
	writes := []workerskv.Write{{Name: "a", Value: []byte("value"), Metadata: []byte("metadata")}, {Name: "b", Delete: true}, {Name: "c"}, {Name: "d"}}
	n := &namespace{call: func(request frames) frames {
		if parts := split(t, request); len(parts) != 14 || parts[2] != "\x00a" || parts[3] != "value" || parts[4] != "metadata" || parts[5] != "\x01b" {
			t.Errorf("the shell was asked %q", parts)
		}
		return frames(nil).add([]byte{kvDone}).add([]byte{kvDone}).add([]byte{kvRefused}).addText("\x04on fire")
	}}
	became := n.Write(t.Context(), writes)
	if became[0] != nil || !errors.Is(became[1], workerskv.ErrRefused) || became[2] == nil || became[2].Error() != "KV: on fire" || !errors.Is(became[3], errAnswer) {
		t.Errorf("the writes became %v", became)
	}
	for answer, want := range map[string]string{"": errAnswer.Error(), string(frames(nil).add([]byte{kvFailed}).addText("down")): "KV: down"} {
		n.call = func(frames) frames { return frames(answer) }
		for i, err := range n.Write(t.Context(), writes) {
			if err == nil || err.Error() != want {
				t.Errorf("to %q write %d became %v", answer, i, err)
			}
		}
	}
}

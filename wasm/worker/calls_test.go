package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
)

// split returns all frames of a message.
func split(t *testing.T, f frames) (list []string) {
	t.Helper()
	for len(f) > 0 {
		b, rest, ok := f.next()
		if !ok {
			t.Fatalf("%q are no frames", f)
		}
		list, f = append(list, string(b)), rest
	}
	return list
}

// A sent value contains the arguments that a caller passes to the JavaScript shell.
type sent struct {
	calls  []durableobject.Call
	ms     uint32
	writes bool
}

func TestCall(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * edm.TicksPerSecond)
	var got sent
	var answers frames
	c := caller{
		now: func() edm.Ticks { return now },
		call: func(calls []durableobject.Call, ms uint32, writes bool) frames {
			got = sent{calls, ms, writes}
			return answers
		},
	}
	calls := make([]durableobject.Call, 5)
	answers = frames(nil).addText("\x00answer").addText("\x01").addText("\x02").addText("\x03").addText("")
	outcomes := c.Call(t.Context(), calls)
	want := []durableobject.Answer{
		{Message: []byte("answer")}, {Err: durableobject.ErrOverloaded}, {Err: durableobject.ErrLost}, {Err: durableobject.ErrUnreachable},
		{Err: durableobject.ErrLost}, // the call may have been carried out, because the reason of its failure is unknown
	}
	for i := range want {
		if string(outcomes[i].Message) != string(want[i].Message) || !errors.Is(outcomes[i].Err, want[i].Err) {
			t.Errorf("answer %d is %q, %v", i, outcomes[i].Message, outcomes[i].Err)
		}
	}
	if len(got.calls) != len(calls) || got.ms != 30_000 || got.writes {
		t.Errorf("without a deadline the shell gets %+v", got)
	}

	answers = frames(nil).addText("\x04the disk is full")
	var failed *durableobject.FailedError
	if err := c.Call(t.Context(), calls[:1])[0].Err; !errors.As(err, &failed) || failed.Reason != "the disk is full" {
		t.Errorf("an object that failed: %v", err)
	}

	answers = nil
	ctx, cancel := withTimeout(c.now)(t.Context(), 1500*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, calls[:1])[0].Err; !errors.Is(err, durableobject.ErrLost) || got.ms != 1500 {
		t.Errorf("no answer at all for %d ms: %v", got.ms, err)
	}
	got = sent{}
	now += 2 * edm.TicksPerSecond
	if err := c.Call(ctx, calls[:1])[0].Err; !errors.Is(err, durableobject.ErrUnreachable) || got.calls != nil {
		t.Errorf("after the deadline: %v, sent %+v", err, got)
	}
	c.Pause(t.Context(), 20*time.Millisecond)
	if len(got.calls) != 0 || got.ms != 20 {
		t.Errorf("a pause is %+v", got)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * edm.TicksPerSecond)
	timeout := withTimeout(func() edm.Ticks { return now })
	outer, cancel := timeout(t.Context(), 2*time.Second)
	defer cancel()
	inner, cancel := timeout(outer, time.Minute)
	defer cancel()
	if at, ok := inner.Deadline(); !ok || edm.TicksOf(at) != now+2*edm.TicksPerSecond {
		t.Errorf("the deadline is %v, %t: the earlier one counts", at, ok)
	}
	if err := inner.Err(); err != nil {
		t.Errorf("before the deadline: %v", err)
	}
	now += 2 * edm.TicksPerSecond
	if err := inner.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the deadline: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if c, cancel := timeout(ended, time.Minute); !errors.Is(c.Err(), context.Canceled) {
		t.Error("what ended before does not count")
	} else {
		cancel()
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(frames(nil).addText("a").addText("")))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, out := frames(b), frames(nil)
		for {
			part, rest, ok := in.next()
			if !ok {
				break
			}
			out, in = out.add(part), rest
		}
		if string(out)+string(in) != string(b) && len(in) > 0 {
			t.Errorf("%q became %q", b, out)
		}
		if len(b) > 0 && string(out) != string(b[:len(out)]) {
			t.Errorf("%q became %q", b, out)
		}
	})
}

func TestBuffer(t *testing.T) {
	t.Parallel()
	var s buffer
	if b := s.room(0); len(b) == 0 {
		t.Error("there is no room at first")
	}
	copy(s.room(10_000), "request")
	request := s.detach(7)
	copy(s.room(6), "answer") // the request still uses the memory of this block
	if string(request) != "request" {
		t.Errorf("the request became %q", request)
	}
	s.detach(6)
	s.recycle(request)
	out := append(s.largest(), "response"...)
	if n := s.put(out); n != 8 || string(s.room(0)[:n]) != "response" {
		t.Errorf("%d bytes of %q", n, s.room(0)[:8])
	}
	if &out[0] != &request[0] {
		t.Error("memory that came back is not used")
	}
	s.detach(8)
	s.recycle(make([]byte, 2*maxSpare))
	for range 10 {
		s.recycle(make([]byte, 1, 5000))
	}
	s.recycle(make([]byte, 1, 300_000))
	kept := 0
	for _, b := range s.spares {
		kept += cap(b)
	}
	if kept != 2*5000+300_000 {
		t.Errorf("%d bytes are kept", kept)
	}
	if b := s.piece(4500); cap(b) != 5000 {
		t.Errorf("for 4,500 bytes a piece of %d is taken", cap(b))
	}
	if b := s.room(1_100_000); len(b) != 2<<20 {
		t.Errorf("for 1.1 MB a piece of %d is made", len(b))
	}
}

// TestHold checks that an instance for Durable Objects allocates no further large block, whatever the sizes of
// messages, rows, answers and calls are. A new large block might not fit into a fragmented heap.
func TestHold(t *testing.T) {
	t.Parallel()
	var s buffer
	s.allocateSpares()
	held := map[*byte]bool{}
	for _, b := range s.spares {
		held[unsafe.SliceData(b)] = true
	}
	random := rand.New(rand.NewPCG(1, 2))
	size := func() int { return random.IntN(maxSpare >> random.IntN(20)) }
	check := func(what string, b []byte, n int) {
		if !held[unsafe.SliceData(b)] || cap(b) < n {
			t.Fatalf("the %s of %d bytes has memory of its own, of %d bytes", what, n, cap(b))
		}
	}
	for range 10_000 { // this loop uses the buffer as exportObject does
		n := size()
		s.room(n)
		in := s.detach(n)
		check("message", in, n)
		out := s.largest()
		check("answer", out, maxSpare)
		for range random.IntN(3) {
			n := size()
			check("rows", s.room(n), n)
		}
		if random.IntN(2) == 0 {
			s.drop()
			n := size()
			calls := s.piece(n)
			check("calls", calls, n)
			s.recycle(out)
			out = calls
		}
		s.recycle(in)
		s.put(out)
	}
}

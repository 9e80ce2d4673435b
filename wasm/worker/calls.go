package main

import (
	"context"
	"encoding/binary"
	"time"

	"edgetable/adapters/durableobject"
	"edgetable/core/edm"
)

// caller sends messages to objects through the shell, which takes frames
//
//	how many milliseconds it may take, in 4 bytes
//	name, jurisdiction, location hint, message     of each call
//
// and gives back one frame for each call: a byte that says what became of it, and
// the answer. Without any call it waits for as long as it may take.
type caller struct {
	now  func() edm.Ticks
	call func(calls frames) (answers frames) // which are the caller's
	out  frames
}

// What became of a call.
const (
	answered = iota
	overloaded
	lost
	unreachable
)

// patience is how long an answer is waited for at most.
const patience edm.Ticks = 30 * edm.TicksPerSecond

var (
	_ durableobject.Caller = (*caller)(nil)
	_ durableobject.Pauser = (*caller)(nil)
)

// Call implements [durableobject.Caller].
func (c *caller) Call(ctx context.Context, calls []durableobject.Call) []durableobject.Answer {
	wait := patience
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, edm.TicksOf(at)-c.now())
	}
	answers := make([]durableobject.Answer, len(calls))
	if ctx.Err() != nil || wait <= 0 {
		for i := range answers {
			answers[i].Err = durableobject.ErrUnreachable
		}
		return answers
	}
	out := c.out[:0].add(milliseconds(wait))
	readAnswers(answers, c.call(appendCalls(out, calls)))
	if c.out = out; cap(out) > maxSpare {
		c.out = nil
	}
	return answers
}

// Pause implements [durableobject.Pauser].
func (c *caller) Pause(_ context.Context, d time.Duration) {
	c.call(frames(nil).add(milliseconds(edm.Ticks(d / 100))))
}

func milliseconds(t edm.Ticks) []byte {
	const millisecond = edm.TicksPerSecond / 1000
	return binary.LittleEndian.AppendUint32(nil, uint32((t+millisecond-1)/millisecond))
}

func appendCalls(dst frames, calls []durableobject.Call) frames {
	for _, call := range calls {
		dst = dst.addText(call.Object.Name).addText(call.Object.Jurisdiction).addText(call.Object.Hint).add(call.Message)
	}
	return dst
}

// readAnswers takes answers out of frames, whose memory they share.
func readAnswers(answers []durableobject.Answer, f frames) {
	for i := range answers {
		b, rest, _ := f.next()
		f = rest
		a := durableobject.Answer{Err: durableobject.ErrLost}
		if len(b) > 0 {
			switch b[0] {
			case answered:
				a = durableobject.Answer{Message: b[1:]}
			case overloaded:
				a.Err = durableobject.ErrOverloaded
			case unreachable:
				a.Err = durableobject.ErrUnreachable
			}
		}
		answers[i] = a
	}
}

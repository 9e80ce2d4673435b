package main

import (
	"context"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
)

// caller sends messages to Durable Objects through the shell, the JavaScript part of the Worker. The shell returns a
// frame for each call: one byte with the outcome, and the answer.
type caller struct {
	now  func() edm.Ticks
	call func(calls []durableobject.Call, ms uint32, writes bool) (answers frames) // the caller owns the memory of the answers
}

const (
	answered = iota
	overloaded
	lost
	unreachable
	failed // the reason of the failure follows this value
)

// answerTimeout is the time that the JavaScript shell waits for an answer.
const answerTimeout edm.Ticks = 30 * edm.TicksPerSecond

var (
	_ durableobject.Caller = (*caller)(nil)
	_ durableobject.Pauser = (*caller)(nil)
)

// Call implements [durableobject.Caller].
func (c *caller) Call(ctx context.Context, calls []durableobject.Call) []durableobject.Answer {
	wait := answerTimeout
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
	writes := false
	for i := range calls {
		writes = writes || calls[i].Writes()
	}
	readAnswers(answers, c.call(calls, milliseconds(wait), writes))
	return answers
}

// Pause implements [durableobject.Pauser].
func (c *caller) Pause(_ context.Context, d time.Duration) {
	c.call(nil, milliseconds(edm.Ticks(d/100)), false)
}

func milliseconds(t edm.Ticks) uint32 {
	const millisecond = edm.TicksPerSecond / 1000
	return uint32((t + millisecond - 1) / millisecond)
}

func sizeOfCalls(calls []durableobject.Call) (n int) {
	for _, call := range calls {
		n += 16 + len(call.To.Name) + len(call.To.Jurisdiction) + len(call.To.Hint) + len(call.Message)
	}
	return n
}

// appendCalls appends the name, jurisdiction, location hint and message of each call.
func appendCalls(dst frames, calls []durableobject.Call) frames {
	for _, call := range calls {
		dst = dst.addText(call.To.Name).addText(call.To.Jurisdiction).addText(call.To.Hint).add(call.Message)
	}
	return dst
}

// readAnswers parses frames into answers. The answers share the memory of the frames.
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
			case failed:
				a.Err = &durableobject.FailedError{Reason: string(b[1:])}
			}
		}
		answers[i] = a
	}
}

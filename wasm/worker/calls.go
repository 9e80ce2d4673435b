package main

import (
	"context"
	"encoding/binary"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
)

// caller sends messages to objects through the shell, which takes frames
//
//	time limit in milliseconds, in 4 bytes; and one byte: 1 if a call may write
//	name, jurisdiction, location hint, message     of each call
//
// and returns one frame for each call: a byte with the outcome, and the answer. Without
// calls it waits for the time limit.
type caller struct {
	now    func() edm.Ticks
	call   func(calls [][]byte) (answers frames) // takes pieces of frames; the caller owns the answers
	out    frames
	pieces [][]byte
}

// The outcomes of a call.
const (
	answered = iota
	overloaded
	lost
	unreachable
	failed // followed by the reason
)

// answerTimeout is the most time to wait for an answer.
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
	readAnswers(answers, c.call(c.join(wait, calls)))
	return answers
}

// join returns the frames of calls in pieces, so that messages are not copied.
func (c *caller) join(wait edm.Ticks, calls []durableobject.Call) [][]byte {
	first := append(milliseconds(wait), 0)
	size := 4 + len(first)
	for i := range calls {
		size += 16 + len(calls[i].To.Name) + len(calls[i].To.Jurisdiction) + len(calls[i].To.Hint)
		if calls[i].Writes() {
			first[4] = 1
		}
	}
	if cap(c.out) < size {
		c.out = make(frames, 0, size)
	}
	out := c.out[:0].add(first)
	c.pieces = c.pieces[:0]
	for start := 0; len(calls) > 0; calls = calls[1:] {
		to, m := &calls[0].To, calls[0].Message
		out = out.addText(to.Name).addText(to.Jurisdiction).addText(to.Hint)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(m)))
		c.pieces = append(c.pieces, out[start:], m)
		start = len(out)
	}
	if len(c.pieces) == 0 {
		c.pieces = append(c.pieces, out)
	}
	return c.pieces
}

// Pause implements [durableobject.Pauser].
func (c *caller) Pause(_ context.Context, d time.Duration) {
	c.call(c.join(edm.Ticks(d/100), nil))
}

func milliseconds(t edm.Ticks) []byte {
	const millisecond = edm.TicksPerSecond / 1000
	return binary.LittleEndian.AppendUint32(nil, uint32((t+millisecond-1)/millisecond))
}

// sizeOfCalls is the number of bytes that appendCalls appends.
func sizeOfCalls(calls []durableobject.Call) (n int) {
	for _, call := range calls {
		n += 16 + len(call.To.Name) + len(call.To.Jurisdiction) + len(call.To.Hint) + len(call.Message)
	}
	return n
}

func appendCalls(dst frames, calls []durableobject.Call) frames {
	for _, call := range calls {
		dst = dst.addText(call.To.Name).addText(call.To.Jurisdiction).addText(call.To.Hint).add(call.Message)
	}
	return dst
}

// readAnswers reads answers, which share the memory of the frames.
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

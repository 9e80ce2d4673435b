// Package turn is one message to an object in one transaction: what it has, and the step that comes
// of it.
package turn

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Step is the result of a Handle.
type Step struct {
	// Answer is the answer to the message, if Calls is empty: Handle's dst with the
	// answer appended. With Calls it holds the message of a call that may be large.
	Answer []byte
	// Rollback: undo all changes of the Handle to its rows. The answer stays valid.
	Rollback bool
	// Calls are to be made concurrently after the transaction. Then Handle gets the
	// message again, with their answers and State.
	Calls []durableobject.Call
	State []byte
	// Alarm is when the object wants the message [Alarm]; 0 is never. Only the earliest
	// one that was not sent yet counts.
	Alarm edm.Ticks

	Next *Continuation // becomes State, if there are Calls
}

// RetryDelay is how long the alarm leaves work of several messages to the message that began it, and then
// waits between attempts to finish it.
const RetryDelay = 30 * edm.TicksPerSecond

// Resume is the outcome of a Step with Calls.
type Resume struct {
	State   []byte
	Answers []durableobject.Answer // in the order of the Calls
}

// Turn is one Handle.
type Turn struct {
	Rows    storage.Rows
	Now     edm.Ticks
	Fields  message.Reader // of the message
	Resumed Continuation   // zero for a new message
	Answers []durableobject.Answer
	Dst     []byte
}

// Room is memory that nothing uses before the answer: the upper half of Dst. A row that is made of what
// is there fits below it, also with another key or two.
func (t *Turn) Room() []byte {
	const more = 8 << 10
	middle := min((len(t.Dst)+cap(t.Dst))/2+more, cap(t.Dst))
	return t.Dst[middle:middle]
}

// Fail is the answer with an error.
func (t *Turn) Fail(err error) Step { return Step{Answer: message.Fail(t.Dst, err)} }

// Malformed is the answer to a message of our version with bad fields.
func (t *Turn) Malformed() Step { return Step{Answer: message.Foreign(t.Dst)} }

// Done is the answer without a result.
func (t *Turn) Done() Step { return Step{Answer: message.Done(t.Dst)} }

// DoneTicks is the answer with a time.
func (t *Turn) DoneTicks(at edm.Ticks) Step { return Step{Answer: message.DoneTicks(t.Dst, at)} }

// Has reports whether a step is an answer with this status.
func (t *Turn) Has(s Step, status message.Status) bool {
	return len(s.Calls) == 0 && message.StatusOf(s.Answer[len(t.Dst):]) == status
}

// Rounds is the number of times that a message calls other objects before it gives
// up, or leaves a deletion to the alarm.
const Rounds = 3

// LostWrite is the answer to a write whose outcome is unknown.
func LostWrite(t *Turn) Step { return t.Fail(table.ErrUnknown) }

// DoneID is the answer with the id of a range.
func (t *Turn) DoneID(id uint32) Step {
	return Step{Answer: binary.BigEndian.AppendUint32(message.Done(t.Dst), id)}
}

// MalformedPiece undoes what a piece changed.
func (t *Turn) MalformedPiece() Step {
	step := t.Malformed()
	step.Rollback = true
	return step
}

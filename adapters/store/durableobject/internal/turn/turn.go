// Package turn defines the input (Turn) and the result (Step) of one transaction in which an object handles a message.
package turn

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Step is the result of the method Handle of an engine.
type Step struct {
	// If Calls is empty, Answer is the parameter dst of Handle with the appended answer to the message. Otherwise it
	// may be dst with the appended message of a call.
	Answer []byte
	// Rollback means that the JavaScript shell must undo all changes of Handle to the rows. Answer remains valid.
	Rollback bool
	// Calls are made concurrently by the JavaScript shell after the transaction. The shell then passes the message to
	// Handle again, with State and the answers.
	Calls []durableobject.Call
	State []byte
	// Alarm is the time at which the JavaScript shell must send OpAlarm to the object; 0 means never. Only the earliest
	// pending alarm is sent.
	Alarm edm.Ticks

	Next *Continuation // set if there are Calls; State is the encoded form of Next
}

// RetryDelay is the delay before the alarm continues or retries unfinished work, such as a deletion.
const RetryDelay = 30 * edm.TicksPerSecond

// Resume holds the State of a Step and the answers to its Calls.
type Resume struct {
	State   []byte
	Answers []durableobject.Answer // answers to the calls, in the same order
}

// Turn is the input of one call of Handle: a message, the object's storage and the time.
type Turn struct {
	Rows    storage.Rows
	Now     edm.Ticks
	Fields  message.Reader
	Resumed Continuation // progress of the message; zero for a new message
	Answers []durableobject.Answer
	Dst     []byte
}

// Room returns the unused upper part of Dst. Before the answer is written, a caller may read data into it, and encode a
// row of this data into the lower part.
func (t *Turn) Room() []byte {
	const more = 8 << 10
	middle := min((len(t.Dst)+cap(t.Dst))/2+more, cap(t.Dst))
	return t.Dst[middle:middle]
}

// Fail returns the answer for an error.
func (t *Turn) Fail(err error) Step { return Step{Answer: message.Fail(t.Dst, err)} }

// Malformed returns the answer to a message of this version whose fields are malformed.
func (t *Turn) Malformed() Step { return Step{Answer: message.Foreign(t.Dst)} }

// Done returns an answer without fields.
func (t *Turn) Done() Step { return Step{Answer: message.Done(t.Dst)} }

// DoneTicks returns an answer with a time.
func (t *Turn) DoneTicks(at edm.Ticks) Step { return Step{Answer: message.DoneTicks(t.Dst, at)} }

// Has reports whether a step is an answer with the given status.
func (t *Turn) Has(s Step, status message.Status) bool {
	return len(s.Calls) == 0 && message.StatusOf(s.Answer[len(t.Dst):]) == status
}

// Rounds is the maximum number of times that a message calls other objects. After that, the message fails or the alarm
// continues its work.
const Rounds = 3

// LostWrite returns the answer to a write whose outcome is unknown.
func LostWrite(t *Turn) Step { return t.Fail(table.ErrUnknown) }

// DoneID returns an answer with the id of a range.
func (t *Turn) DoneID(id uint32) Step {
	return Step{Answer: binary.BigEndian.AppendUint32(message.Done(t.Dst), id)}
}

// MalformedPiece returns the answer to a malformed chunk of entities, and makes the JavaScript shell undo the changes
// of the transaction.
func (t *Turn) MalformedPiece() Step {
	step := t.Malformed()
	step.Rollback = true
	return step
}

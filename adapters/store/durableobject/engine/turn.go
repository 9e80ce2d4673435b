package engine

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
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

	next *continuation // becomes State, if there are Calls
}

// Resume is the outcome of a Step with Calls.
type Resume struct {
	State   []byte
	Answers []durableobject.Answer // in the order of the Calls
}

// turn is one Handle.
type turn struct {
	rows    Rows
	now     edm.Ticks
	fields  message.Reader // of the message
	resumed continuation   // zero for a new message
	answers []durableobject.Answer
	dst     []byte
}

func (t *turn) fail(err error) Step { return Step{Answer: message.Fail(t.dst, err)} }

// malformed is the answer to a message of our version with bad fields.
func (t *turn) malformed() Step { return Step{Answer: message.Foreign(t.dst)} }

func (t *turn) done() Step { return Step{Answer: message.Done(t.dst)} }

func (t *turn) doneTicks(at edm.Ticks) Step { return Step{Answer: message.DoneTicks(t.dst, at)} }

// has reports whether a step is an answer with this status.
func (t *turn) has(s Step, status message.Status) bool {
	return len(s.Calls) == 0 && message.StatusOf(s.Answer[len(t.dst):]) == status
}

// rounds is the number of times that a message calls other objects before it gives
// up, or leaves a deletion to the alarm.
const rounds = 3

// lostWrite is the answer to a write whose outcome is unknown.
func lostWrite(t *turn) Step { return t.fail(table.ErrUnknown) }

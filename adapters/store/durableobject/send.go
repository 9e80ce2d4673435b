package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMoves is the maximum number of attempts of an operation while objects answer that the table has another layout, or
// that another range has the key.
const maxMoves = 3

// firstPause is the pause before a message is sent for the second time.
const firstPause = 20 * time.Millisecond

// send sends a message, repeatedly if necessary, and returns the fields of the answer.
//
// The object recognizes a repeated write by its random number. If no answer arrives, the outcome of the write is
// unknown.
func (s *Store) send(ctx context.Context, to Address, m []byte) (message.Reader, error) {
	if err := ctx.Err(); err != nil {
		return message.Reader{}, err
	}
	write := message.IsWrite(m)
	var a message.Attempt
	if write {
		a = message.Attempt{ID: s.o.Rand(), First: s.o.Now()}
	}
	calls := []Call{{To: to, Message: m}}
	lost := false // whether the answer to an attempt of a write was lost
	for n := 1; ; n++ {
		if write {
			message.Stamp(m, a)
		}
		answer := s.o.Caller.Call(ctx, calls)[0]
		switch {
		case answer.Err == nil:
			r, err := s.result(answer.Message, write, lost)
			if errors.Is(err, message.ErrMore) && s.contextErr(ctx) == nil {
				n, lost = 0, lost || message.IsRemove(m)
				a.Again, a.Age = lost, s.o.Now()-a.First
				continue
			}
			if !errors.Is(err, message.ErrAgain) && !errors.Is(err, message.ErrMore) {
				return r, err
			}
		case failed(answer.Err) && !lost:
			return message.Reader{}, answer.Err
		case failed(answer.Err):
			return message.Reader{}, table.ErrUnknown
		case errors.Is(answer.Err, ErrUnreachable):
		case errors.Is(answer.Err, ErrOverloaded):
			n = s.o.Attempts // do not send the message again: the object is overloaded
		default:
			lost = write
		}
		if n >= s.o.Attempts || !s.pauseForRetry(ctx, n) {
			return message.Reader{}, s.noAnswerErr(ctx, lost, answer.Err)
		}
		a.Again, a.Age = lost, s.o.Now()-a.First
	}
}

func failed(err error) bool {
	_, ok := errors.AsType[*FailedError](err)
	return ok
}

// result parses an answer. The parameter retried means that an earlier attempt of the write got no answer, and may have
// been applied even if this attempt failed.
func (s *Store) result(answer []byte, write, retried bool) (message.Reader, error) {
	r, err := message.Result(answer)
	if errors.Is(err, message.ErrForeign) {
		// During a deployment, objects may run another version of the code for some minutes.
		err = table.ErrBusy
	}
	if write && errors.Is(err, message.ErrDamaged) || retried && errors.Is(err, table.ErrBusy) {
		err = table.ErrUnknown
	}
	return r, err
}

// pauseForRetry waits before the next attempt, and reports whether there is time for it. n is the number of attempts so
// far.
func (s *Store) pauseForRetry(ctx context.Context, n int) bool {
	if s.contextErr(ctx) != nil {
		return false
	}
	if s.pause != nil {
		s.pause.Pause(ctx, firstPause<<min(n-1, 5))
	}
	return s.contextErr(ctx) == nil
}

// contextErr returns the error of a context that was cancelled, or whose deadline has passed. Without a scheduler, no
// timer cancels the context.
func (s *Store) contextErr(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d, ok := ctx.Deadline(); ok && s.o.Now() >= edm.TicksOf(d) {
		return context.DeadlineExceeded
	}
	return nil
}

func (s *Store) noAnswerErr(ctx context.Context, lost bool, last error) error {
	if lost {
		return table.ErrUnknown
	}
	if err := s.contextErr(ctx); err != nil && !errors.Is(last, ErrOverloaded) {
		return err
	}
	return table.ErrBusy
}

// retryMoved runs an operation, and runs it again whenever an object answers that the table has another layout.
func (s *Store) retryMoved(name string, do func() error) error {
	for range maxMoves {
		err := do()
		moved, ok := errors.AsType[*message.MovedError](err)
		if !ok {
			return err
		}
		s.cacheLayout(name, moved.Layout)
	}
	return table.ErrBusy
}

// sendToRange sends a message to the range that probably has the key at a position, and if necessary to the range that
// the answer names.
func (s *Store) sendToRange(ctx context.Context, p message.Destination, position []byte, m func(p *message.Destination) []byte) (message.Reader, error) {
	for range maxMoves {
		r, err := s.send(ctx, AddressOf(&p), m(&p))
		moved, ok := errors.AsType[*message.RangedError](err)
		if !ok {
			return r, err
		}
		s.learnRanges(&p, position, moved)
		p.Range, _ = moved.Ranges.Find(position)
	}
	return message.Reader{}, table.ErrBusy
}

package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMoves is how often an operation follows a table.
const maxMoves = 3

// firstPause is how long to wait before a message is sent a second time.
const firstPause = 20 * time.Millisecond

// send sends a message until there is an answer to it, and returns its fields.
//
// A message that writes is stamped: the object recognizes it when it comes
// again. So one whose answer was lost can be sent again, whatever it writes. When
// no answer comes at all, its outcome is unknown.
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
	lost := false // an attempt of a write
	for n := 1; ; n++ {
		if write {
			message.Stamp(m, a)
		}
		answer := s.o.Caller.Call(ctx, calls)[0]
		switch {
		case answer.Err == nil:
			r, err := s.result(answer.Message, write, lost)
			if !errors.Is(err, message.ErrAgain) {
				return r, err
			}
		case failed(answer.Err) && !lost:
			return message.Reader{}, answer.Err
		case failed(answer.Err):
			return message.Reader{}, table.ErrUnknown
		case errors.Is(answer.Err, ErrUnreachable):
		case errors.Is(answer.Err, ErrOverloaded):
			n = s.o.Attempts // not again at once
		default:
			lost = write
		}
		if n >= s.o.Attempts || !s.again(ctx, n) {
			return message.Reader{}, s.gaveUp(ctx, lost, answer.Err)
		}
		a.Again, a.Age = lost, s.o.Now()-a.First
	}
}

func failed(err error) bool {
	_, ok := errors.AsType[*FailedError](err)
	return ok
}

// result is what an answer says. That an attempt of a write was not carried out
// says nothing of one before that was lost.
func (s *Store) result(answer []byte, write, lost bool) (message.Reader, error) {
	r, err := message.Result(answer)
	if errors.Is(err, message.ErrForeign) {
		// A deployment is under way: for minutes objects may be of another version.
		err = table.ErrBusy
	}
	if write && errors.Is(err, message.ErrDamaged) || lost && errors.Is(err, table.ErrBusy) {
		err = table.ErrUnknown
	}
	return r, err
}

// again reports whether there is time to send a message once more, n times after
// the first, and waits a little.
func (s *Store) again(ctx context.Context, n int) bool {
	if s.ended(ctx) != nil {
		return false
	}
	if s.pause != nil {
		s.pause.Pause(ctx, firstPause<<min(n-1, 5))
	}
	return s.ended(ctx) == nil
}

// ended is the error of a context that ended, or is past its deadline by our
// clock, as nothing may be running that could end it.
func (s *Store) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d, ok := ctx.Deadline(); ok && s.o.Now() >= edm.TicksOf(d) {
		return context.DeadlineExceeded
	}
	return nil
}

// gaveUp is the error of a message that got no answer.
func (s *Store) gaveUp(ctx context.Context, lost bool, last error) error {
	if lost {
		return table.ErrUnknown
	}
	if err := s.ended(ctx); err != nil && !errors.Is(last, ErrOverloaded) {
		return err
	}
	return table.ErrBusy
}

// follow does an operation on a table where it is taken to be, and again where
// it turns out to be.
func (s *Store) follow(name string, do func(home message.Home) error) error {
	for range maxMoves {
		err := do(s.homes.get(name))
		moved, ok := errors.AsType[*message.MovedError](err)
		if !ok {
			return err
		}
		s.homes.put(name, moved.Home)
	}
	return table.ErrBusy
}

// bucket is the object that has a bucket of a table.
func bucket(p *message.Place) Address { return Bucket(p.Table, p.Buckets, p.Bucket, p.Location) }

// placeOf is the bucket of an entity.
func placeOf(name string, home message.Home, number uint16) message.Place {
	return message.Place{Table: name, Buckets: home.Buckets, Bucket: number, Location: home.Location}
}

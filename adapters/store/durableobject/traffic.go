package durableobject

import (
	"context"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// Traffic implements [table.Counting]. A part is of 32 buckets at most, which are asked
// at once.
func (s *Store) Traffic(ctx context.Context, t table.RecordKey, from uint16) (part []byte, next uint16, err error) {
	name := t.String()
	err = s.follow(name, func(home message.Home) error {
		part, next = nil, 0
		if from >= home.Buckets {
			return nil
		}
		calls := make([]Call, min(fanOut, home.Buckets-from))
		for i := range calls {
			p := placeOf(name, home, from+uint16(i))
			calls[i] = Call{bucket(&p), message.Traffic(nil, &p)}
		}
		for i, answer := range s.o.Caller.Call(ctx, calls) {
			r, err := message.Reader{}, answer.Err
			if err == nil {
				r, err = s.result(answer.Message, false, false)
			} else {
				r, err = s.send(ctx, calls[i].To, calls[i].Message)
			}
			if err != nil {
				return err
			}
			part = append(part, r.Rest()...)
		}
		if next = from + uint16(len(calls)); next == home.Buckets {
			next = 0
		}
		return nil
	})
	return part, next, err
}

package durableobject

import (
	"context"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// Traffic implements [table.Counting]. A part is of 32 objects at most, which are asked
// at once.
func (s *Store) Traffic(ctx context.Context, t table.RecordKey, from uint16) (part []byte, next uint16, err error) {
	name := t.String()
	r, err := s.send(ctx, s.catalog(t.Account), message.Key(nil, message.OpObjects, name))
	if err != nil {
		return nil, 0, err
	}
	where, objects := r.Home(), r.Objects()
	if !r.Done() {
		return nil, 0, message.ErrDamaged
	}
	rest := objects[min(int(from), len(objects)):]
	if len(rest) > fanOut {
		rest, next = rest[:fanOut], from+fanOut
	}
	calls := make([]Call, len(rest))
	for i, o := range rest {
		p := message.Place{Table: name, Buckets: where.Buckets, Bucket: o.Bucket, Location: where.Location, Range: o.Range}
		calls[i] = Call{address(&p), message.Traffic(nil, &p)}
	}
	for i, answer := range s.o.Caller.Call(ctx, calls) {
		r, err := message.Reader{}, answer.Err
		if err == nil {
			r, err = s.result(answer.Message, false, false)
		} else {
			r, err = s.send(ctx, calls[i].To, calls[i].Message)
		}
		if again(err) {
			err = table.ErrBusy // it left meanwhile
		}
		if err != nil {
			return nil, 0, err
		}
		part = append(part, r.Rest()...)
	}
	return part, next, nil
}

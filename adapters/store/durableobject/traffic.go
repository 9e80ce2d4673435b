package durableobject

import (
	"context"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// Traffic implements [table.Counting]. It asks some of the objects at a time: what all of them
// tell would need too much memory.
func (s *Store) Traffic(ctx context.Context, t table.RecordKey) (*traffic.Report, error) {
	where, objects, err := s.objects(ctx, t)
	if err != nil {
		return nil, err
	}
	merger := traffic.NewMerger()
	for len(objects) > 0 {
		some := objects[:min(len(objects), fanOut)]
		objects = objects[len(some):]
		calls := make([]Call, len(some))
		for i, o := range some {
			p := destinationOf(t, &where, o)
			calls[i] = Call{AddressOf(&p), message.Traffic(nil, &p)}
		}
		answers, errs := s.askAll(ctx, calls)
		for i := range answers {
			if errs[i] != nil {
				return nil, errs[i]
			}
			bucket, ok := traffic.ReadBucket(answers[i].Rest())
			if !ok {
				return nil, message.ErrDamaged
			}
			merger.Add(&bucket)
		}
	}
	return merger.Report(), nil
}

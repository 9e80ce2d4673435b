package durableobject

import (
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// Traffic implements [table.Counting]. The report contains the number of objects that did not answer, for example
// because an object was handing over its keys.
func (s *Store) Traffic(ctx context.Context, t table.RecordKey) (*traffic.Report, error) {
	where, objects, err := s.objects(ctx, t)
	if err != nil {
		return nil, err
	}
	merger, missing := traffic.NewMerger(), 0
	for some := range slices.Chunk(objects, fanOut) { // ask only some objects at a time, because all answers of a chunk are in memory
		calls := make([]Call, len(some))
		for i, o := range some {
			p := destinationOf(t, &where, o)
			calls[i] = Call{AddressOf(&p), message.Traffic(nil, &p)}
		}
		for _, answer := range s.o.Caller.Call(ctx, calls) {
			r, err := s.result(answer.Message, false, false)
			bucket, ok := traffic.ReadBucket(r.Rest())
			switch {
			case answer.Err != nil || errors.Is(err, table.ErrBusy) || needsRetry(err):
				missing++
			case err != nil:
				return nil, err
			case !ok:
				return nil, message.ErrDamaged
			default:
				merger.Add(&bucket)
			}
		}
	}
	if missing == len(objects) {
		return nil, table.ErrBusy
	}
	report := merger.Report()
	report.Missing = missing
	return report, nil
}

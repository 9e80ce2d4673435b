package table

import "context"

// Counting is a [Store] that counts the traffic of its tables itself, as objects on
// Workers do, because no server sees all requests.
type Counting interface {
	// Traffic returns the statistics of some of the buckets of a table, from one on, in
	// the form of traffic.ReadBuckets, and the bucket to go on with; 0 is the end.
	Traffic(ctx context.Context, t RecordKey, from uint16) (part []byte, next uint16, err error)
}

// Traffic returns statistics of a table as [Counting] does.
func (s *Service) Traffic(ctx context.Context, n Name, from uint16) (part []byte, next uint16, err error) {
	if err := n.check(); err != nil {
		return nil, 0, err
	}
	store, ok := s.store.(Counting)
	if !ok {
		return nil, 0, NotImplemented.With("The requested operation is not implemented on the specified resource. Only Workers with Durable Objects answer comp=traffic: ask a server on its machine, by edgetable stats --data.")
	}
	if part, next, err = store.Traffic(ctx, n.Key(), from); err != nil {
		return nil, 0, protocolError(err)
	}
	return part, next, nil
}

package table

import "context"

// Traffic returns statistics of a table as [Counting] does.
func (s *Service) Traffic(ctx context.Context, n Name, from uint16) (part []byte, next uint16, err error) {
	if err := n.check(); err != nil {
		return nil, 0, err
	}
	store, ok := As[Counting](s.store)
	if !ok {
		return nil, 0, NotImplemented.With("The requested operation is not implemented on the specified resource. Only Workers with Durable Objects answer comp=traffic: ask a server on its machine, by edgetable stats --data.")
	}
	if part, next, err = store.Traffic(ctx, n.Key(), from); err != nil {
		return nil, 0, protocolError(err)
	}
	return part, next, nil
}

// Replication returns the state of the secondary. Without a replica that lags it is
// the store itself.
func (s *Service) Replication() Replication {
	if store, ok := As[Replicated](s.store); ok {
		return store.Replication()
	}
	return Replication{Status: Live, LastSync: s.now()}
}

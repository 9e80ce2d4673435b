package table

import (
	"context"

	"edgetable/core/traffic"
)

// Traffic returns the traffic statistics of a table; see [Counting].
func (s *Service) Traffic(ctx context.Context, n Name) (*traffic.Report, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	store, ok := As[Counting](s.store)
	if !ok {
		return nil, NotImplemented.With("The requested operation is not implemented on the specified resource. Only servers and Workers with Durable Objects support comp=traffic.")
	}
	r, err := store.Traffic(ctx, n.Key())
	if err != nil {
		return nil, protocolError(err)
	}
	r.Account, r.Table = n.Account, n.Table
	return r, nil
}

// Replication returns the state of the replica that serves eventual reads. Without a replica, eventual reads are
// current, and LastSync is the current time.
func (s *Service) Replication() Replication {
	if store, ok := As[Replicated](s.store); ok {
		return store.Replication()
	}
	return Replication{Status: Live, LastSync: s.now()}
}

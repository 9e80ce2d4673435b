package table

import (
	"context"

	"edgetable/core/edm"
)

// Restore restores a table to its state at an earlier time; see [Restoring].
func (s *Service) Restore(ctx context.Context, n Name, to edm.Ticks) (did []byte, err error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	store, ok := As[Restoring](s.store)
	if !ok {
		return nil, NotImplemented.With("The requested operation is not implemented on the specified resource. Only Workers with Durable Objects support comp=restore.")
	}
	if did, err = store.Restore(ctx, n.Key(), to); err != nil {
		return nil, protocolError(err)
	}
	return did, nil
}

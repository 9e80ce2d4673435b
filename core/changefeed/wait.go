package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Wait is the wait of a request for changes. After the wait, the request is served again from its beginning. So a request
// that waits needs no memory except its Wait.
type Wait struct {
	service     table.Service // counts no costs, so that it does not keep the request in memory
	of          table.Name
	at          table.FeedPosition
	waiters     *Waiters
	now         func() edm.Ticks
	until       context.Context
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	end         edm.Ticks // when the request stops waiting
	over        bool      // whether the request must not wait once more
}

// Await waits until there may be changes, the time of the request is over, or the transport stops.
func (w *Wait) Await() {
	defer w.waiters.remove(w.of.Account)
	ctx, cancel := w.withTimeout(w.until, time.Duration(max(0, w.end-w.now()))*100)
	defer cancel()
	err := w.service.AwaitChanges(ctx, w.of, w.at)
	w.over = err != nil || ctx.Err() != nil
}

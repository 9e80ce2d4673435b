package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Wait is the wait of a request for changes. After it the request is served again from its beginning, so while it waits
// it needs no memory but this.
type Wait struct {
	service     *table.Service
	of          table.Name
	at          table.FeedPosition
	waiters     *Waiters
	now         func() edm.Ticks
	until       context.Context
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	end         edm.Ticks // the request waits no longer than until then
	over        bool      // the request waits no more
}

// Await waits until there may be changes, the time of the request is over, or the transport stops.
func (w *Wait) Await() {
	defer w.waiters.remove(w.of.Account)
	ctx, cancel := w.withTimeout(w.until, time.Duration(max(0, w.end-w.now()))*100)
	defer cancel()
	err := w.service.AwaitChanges(ctx, w.of, w.at)
	w.over = err != nil || ctx.Err() != nil
}

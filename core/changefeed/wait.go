package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Wait is one wait of a request for changes. The server retains nothing else of the request, and processes it again
// from the beginning after the wait.
type Wait struct {
	service     table.Service // a Service without a cost counter, because a counter would retain the memory of the request
	of          table.Name
	at          table.FeedPosition
	waiters     *Waiters
	now         func() edm.Ticks
	until       context.Context
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	end         edm.Ticks // deadline of the wait
	over        bool      // whether the wait ended by an error, the deadline or the server's stop; the request must then not wait again
}

// Await blocks until there may be changes, the request's wait time is over, or the server stops.
func (w *Wait) Await() {
	defer w.waiters.remove(w.of.Account)
	ctx, cancel := w.withTimeout(w.until, time.Duration(max(0, w.end-w.now()))*100)
	defer cancel()
	err := w.service.AwaitChanges(ctx, w.of, w.at)
	w.over = err != nil || ctx.Err() != nil
}

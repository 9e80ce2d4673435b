package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Wait is one wait of a request for changes. After the wait, the server processes the request again from the beginning,
// so it keeps nothing of a waiting request except its Wait.
type Wait struct {
	service     table.Service // a copy without the cost counter, because the counter would keep the memory of the request in use
	of          table.Name
	at          table.FeedPosition
	waiters     *Waiters
	now         func() edm.Ticks
	until       context.Context
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	end         edm.Ticks // when the request stops waiting
	over        bool      // set if the wait ended by an error, the time limit or the server's stop; the request then does not wait again
}

// Await waits until there may be changes, the request's wait time is over, or the server stops.
func (w *Wait) Await() {
	defer w.waiters.remove(w.of.Account)
	ctx, cancel := w.withTimeout(w.until, time.Duration(max(0, w.end-w.now()))*100)
	defer cancel()
	err := w.service.AwaitChanges(ctx, w.of, w.at)
	w.over = err != nil || ctx.Err() != nil
}

package remote

import (
	"errors"
	"time"
)

// patience is how long a request may have no response before Waiting is called.
const patience = 5 * time.Second

// waits calls Waiting about one request. Until a request succeeds, it calls Waiting at most once for all requests.
type waits struct {
	c     *Client
	until time.Time
	timer *time.Timer
}

func (c *Client) waits() *waits {
	if c.Waiting == nil {
		return nil
	}
	w := &waits{c: c, until: time.Now().Add(c.repeatFor)}
	w.timer = time.AfterFunc(patience, func() { w.tell(nil) })
	return w
}

// failed reports that the request is retried, and why. ServerBusy is normal, so it is reported only after a while.
func (w *waits) failed(cause error) {
	if answer, ok := errors.AsType[*Error](cause); w != nil && !(ok && answer.refusesLoad()) {
		w.tell(cause)
	}
}

func (w *waits) tell(cause error) {
	if w.c.told.CompareAndSwap(false, true) {
		w.c.Waiting(cause, w.until)
	}
}

func (w *waits) end(err error) {
	if w == nil {
		return
	}
	w.timer.Stop()
	if err == nil {
		w.c.told.Store(false)
	}
}

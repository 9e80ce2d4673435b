package remote

import (
	"errors"
	"time"
)

// patience is how long a request may take before OnWait is called.
const patience = 5 * time.Second

// waitReporter calls Client.OnWait if a request has to wait. Until a request succeeds, all requests of a Client
// together cause at most one call.
type waitReporter struct {
	c     *Client
	until time.Time
	timer *time.Timer
}

func (c *Client) waits() *waitReporter {
	if c.OnWait == nil {
		return nil
	}
	w := &waitReporter{c: c, until: time.Now().Add(c.repeatFor)}
	w.timer = time.AfterFunc(patience, func() { w.reportOnce(nil) })
	return w
}

// reportRetry passes the error that causes a retry to OnWait. It ignores refusals because of load, which are normal.
func (w *waitReporter) reportRetry(cause error) {
	if answer, ok := errors.AsType[*Error](cause); w != nil && !(ok && answer.refusesLoad()) {
		w.reportOnce(cause)
	}
}

func (w *waitReporter) reportOnce(cause error) {
	if w.c.notified.CompareAndSwap(false, true) {
		w.c.OnWait(cause, w.until)
	}
}

func (w *waitReporter) end(err error) {
	if w == nil {
		return
	}
	w.timer.Stop()
	if err == nil {
		w.c.notified.Store(false)
	}
}

package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Feed answers one request for changes. Waiters, Stopping, WithTimeout and Waited may be nil. All other fields are
// required.
type Feed struct {
	Request
	Service *table.Service
	Now     func() edm.Ticks
	// Begin acquires a slot for the request, and End releases it. A request holds no slot while it waits.
	Begin func(context.Context) error
	End   func()
	// Stopping is canceled when the server stops, which ends all waits. If Stopping, Waiters or WithTimeout is nil, no
	// request waits.
	Stopping    context.Context
	Waiters     *Waiters
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// Waited is the previous wait of the request, or nil. After a wait, the server processes the request again.
	Waited *Wait
	// Expires is the time at which the credentials of the request expire, or 0 if they never expire.
	Expires edm.Ticks
}

func (f *Feed) canWait() bool { return f.Stopping != nil && f.Waiters != nil && f.WithTimeout != nil }

// List returns the next events. If there are none and the request may wait, it returns a Wait. The request must hold a
// slot.
func (f *Feed) List(ctx context.Context) (multipart.Header, []byte, *Wait, error) {
	p, err := f.read(ctx, 0)
	if err == nil && p.isIdle() && f.mayWait() {
		w, err := f.newWait(p.Next)
		return nil, nil, w, err
	}
	if err != nil {
		return nil, nil, nil, err
	}
	body := p.appendList(nil, f.Service.MostShown())
	return p.header(), body, nil, nil
}

// mayWait reports whether the request may wait for events.
func (f *Feed) mayWait() bool {
	if w := f.Waited; w != nil && (w.over || w.end <= f.Now()) {
		return false
	}
	return f.Wait > 0 && f.canWait()
}

// margin is the time between the end of a wait and the expiry of the credentials. The request needs valid credentials
// again after the wait.
const margin = edm.TicksPerSecond

// newWait returns a wait for changes after a position. The caller must call Await exactly once.
func (f *Feed) newWait(at table.FeedPosition) (*Wait, error) {
	if err := f.Waiters.enter(f.Of.Account); err != nil {
		return nil, err
	}
	w := &Wait{service: f.Service.Metered(nil), of: f.Of, at: at, waiters: f.Waiters, now: f.Now, until: f.Stopping, withTimeout: f.WithTimeout}
	if w.end = f.Now() + edm.Ticks(f.Wait/100); f.Expires != 0 {
		w.end = min(w.end, f.Expires-margin)
	}
	if f.Waited != nil {
		w.end = min(w.end, f.Waited.end)
	}
	return w, nil
}

// read reads one page of the feed of at most the given number of bytes; 0 means the default.
func (f *Feed) read(ctx context.Context, bytes int) (page, error) {
	p := page{of: f.Of, now: f.Now()}
	next, err := f.Service.Changes(ctx, f.Of, table.FeedRequest{From: f.From, Oldest: f.Oldest, Within: f.Range, Changes: f.MaxEvents, Bytes: bytes})
	p.FeedPage = next
	if f.Waiters != nil && f.From != nil && len(next.Commits) > 0 {
		f.Waiters.Lag.Note(p.now, p.now-next.Commits[0].Ticks, next.Retention)
	}
	p.events = payload.Events{Account: f.Of.Account, Table: f.Of.Table, Life: next.Next.Incarnation}
	return p, err
}

package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Feed answers one request for changes. The fields Waiters, Until, WithTimeout and Waited may be nil; all other fields
// must be set.
type Feed struct {
	Request
	Service *table.Service
	Now     func() edm.Ticks
	// Begin gets a slot (permission to run) for the request, and End releases the slot. A request that waits holds no
	// slot.
	Begin func(context.Context) error
	End   func()
	// Until is a context that ends when the server stops. When this context ends, every wait ends. If Until, Waiters or
	// WithTimeout is nil, no request waits.
	Until       context.Context
	Waiters     *Waiters
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// Waited is the previous wait of this request. After a wait, the server processes the request again. If the request
	// has not waited yet, Waited is nil.
	Waited *Wait
	// Expires holds the time at which the credentials of the request expire; 0 means never.
	Expires edm.Ticks
}

// canWait reports whether the server allows requests to wait.
func (f *Feed) canWait() bool { return f.Until != nil && f.Waiters != nil && f.WithTimeout != nil }

// List returns the next events. If there are none and the request may wait, List returns a Wait instead. The caller
// must hold a slot (permission to run) for the request; see Begin.
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

// mayWait reports whether the request may wait for events, for the first time or once more.
func (f *Feed) mayWait() bool {
	if w := f.Waited; w != nil && (w.over || w.end <= f.Now()) {
		return false
	}
	return f.Wait > 0 && f.canWait()
}

// margin is the time between the end of a wait and the expiry of the credentials. The request is served again after
// the wait, and then needs valid credentials.
const margin = edm.TicksPerSecond

// newWait returns a wait for changes after the given position. The caller must call Await once.
func (f *Feed) newWait(at table.FeedPosition) (*Wait, error) {
	if err := f.Waiters.enter(f.Of.Account); err != nil {
		return nil, err
	}
	w := &Wait{service: f.Service.Metered(nil), of: f.Of, at: at, waiters: f.Waiters, now: f.Now, until: f.Until, withTimeout: f.WithTimeout}
	if w.end = f.Now() + edm.Ticks(f.Wait/100); f.Expires != 0 {
		w.end = min(w.end, f.Expires-margin)
	}
	if f.Waited != nil {
		w.end = min(w.end, f.Waited.end)
	}
	return w, nil
}

// read reads one page of the feed of at most the given number of bytes; 0 means the default size.
func (f *Feed) read(ctx context.Context, bytes int) (page, error) {
	p := page{of: f.Of, now: f.Now()}
	next, err := f.Service.Changes(ctx, f.Of, table.FeedRequest{From: f.From, Oldest: f.Oldest, Within: f.Within, Changes: f.Most, Bytes: bytes})
	p.FeedPage = next
	if f.Waiters != nil && f.From != nil && len(next.Commits) > 0 {
		f.Waiters.Lag.Note(p.now, p.now-next.Commits[0].Ticks, next.Keep)
	}
	p.events = payload.Events{Account: f.Of.Account, Table: f.Of.Table, Life: next.Next.Incarnation}
	return p, err
}

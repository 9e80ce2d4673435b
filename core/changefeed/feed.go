package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Feed answers one request. Every field except Waiters and Until must be set.
type Feed struct {
	Request
	Service *table.Service
	Now     func() edm.Ticks
	// Begin takes the turn of the request, and End gives it back. A request that waits holds no turn.
	Begin func(context.Context) error
	End   func()
	// Until ends when the server stops. If Until or Waiters is nil, no request waits.
	Until       context.Context
	Waiters     *Waiters
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// Expires is when the credentials of the request expire; 0: never.
	Expires edm.Ticks
}

// waits reports whether the server lets requests wait.
func (f *Feed) waits() bool { return f.Until != nil && f.Waiters != nil && f.WithTimeout != nil }

// List returns the next events, or waits for some. The caller has taken the turn of the request. If List returns an
// error, the turn may already have been given back.
func (f *Feed) List(ctx context.Context) (multipart.Header, []byte, error) {
	p, err := f.read(ctx, 0)
	if err == nil && p.idle() && f.Wait > 0 && f.waits() {
		p, err = f.wait(ctx, p)
	}
	if err != nil {
		return nil, nil, err
	}
	body := p.list(nil, f.Service.MostShown())
	return p.header(), body, nil
}

// wait is called with a page that has no events. It waits for events or for the timeout, and returns a page with the
// newest position.
func (f *Feed) wait(ctx context.Context, p page) (page, error) {
	if err := f.Waiters.enter(f.Of.Account); err != nil {
		return p, err
	}
	defer f.Waiters.leave(f.Of.Account)
	until, cancel := f.WithTimeout(f.Until, f.permitted(f.Wait))
	defer cancel()
	for {
		f.End()
		err := f.Service.AwaitChanges(until, f.Of, p.Next)
		ended := until.Err() != nil
		if err != nil && !ended {
			return p, err
		}
		if err := f.Begin(ctx); err != nil {
			return p, err
		}
		f.From, f.Oldest = &p.Next, false
		if p, err = f.read(ctx, 0); err != nil || ended || !p.idle() {
			return p, err
		}
	}
}

// permitted reduces a wait so that it ends before the credentials of the request expire.
func (f *Feed) permitted(d time.Duration) time.Duration {
	if f.Expires == 0 {
		return d
	}
	left := min(f.Expires-f.Now(), edm.Ticks(d/100)) // so that the result fits in a Duration
	return max(0, time.Duration(left)*100)
}

// read reads a page of at most so many bytes; 0 means the default.
func (f *Feed) read(ctx context.Context, bytes int) (page, error) {
	p := page{of: f.Of, now: f.Now()}
	next, err := f.Service.Changes(ctx, f.Of, table.FeedRequest{From: f.From, Oldest: f.Oldest, Within: f.Within, Changes: f.Most, Bytes: bytes})
	p.FeedPage = next
	if f.Waiters != nil && f.From != nil && len(next.Commits) > 0 {
		f.Waiters.Lag.Note(p.now, p.now-next.Commits[0].Ticks, next.Keep)
	}
	p.events = payload.Events{Account: f.Of.Account, Table: f.Of.Table, Life: next.Next.Life}
	return p, err
}

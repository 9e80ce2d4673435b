package changefeed

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Feed answers one request. All fields but Waiters and Until are set.
type Feed struct {
	Request
	Service *table.Service
	Now     func() edm.Ticks
	// Begin takes the turn of the request, and End gives it back: nobody who waits has one.
	Begin func(context.Context) error
	End   func()
	// Until ends when the server ends. Without it, or without Waiters, no request waits.
	Until       context.Context
	Waiters     *Waiters
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// Expires is when the credentials of the request expire; 0: never.
	Expires edm.Ticks
}

// waits reports whether the server lets requests wait.
func (f *Feed) waits() bool { return f.Until != nil && f.Waiters != nil && f.WithTimeout != nil }

// List returns the next events, or waits for some. The request has its turn when List is called; after an error it may
// have none.
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

// wait waits until there are events behind a page that has none, or the time is over. Then it has the newest position.
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

// permitted returns how much of a time the credentials permit to wait.
func (f *Feed) permitted(d time.Duration) time.Duration {
	if f.Expires == 0 {
		return d
	}
	left := min(f.Expires-f.Now(), edm.Ticks(d/100)) // which a duration can have
	return max(0, time.Duration(left)*100)
}

// read reads a page of at most so many bytes, 0 for the usual number.
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

package protocol

import (
	"context"
	"time"

	"edgetable/core/changefeed"
	"edgetable/core/table"
)

// getChanges answers GET comp=changes, which Azure does not have. A stream is sent after getChanges has returned, so it
// must not refer to the memory of the request.
func (c *call) getChanges(ctx context.Context) (a answer, err error) {
	f := &changefeed.Feed{Service: &c.Service, Now: c.Now, Stopping: c.req.Stopping, Waiters: c.Waiters, WithTimeout: c.WithTimeout, Waited: c.req.Waited}
	f.Request, err = changefeed.Parse(c.name(), c.keyRange(), c.target.Query, c.header.Get("Accept"), c.header.Get("Last-Event-Id"), time.Duration(c.options.Timeout)*time.Second)
	if err != nil {
		return a, err
	}
	if c.grant != nil {
		f.Expires = c.grant.Expiry()
	}
	work := Work{Payer: c.account.Name, IsAccount: true, Query: true}
	f.End = func() { c.endTurn(0) }
	f.Begin = func(ctx context.Context) error {
		c.cost = table.Cost{Timed: c.cost.Timed} // the previous cost has already been charged
		if c.Turns == nil {
			return nil
		}
		return c.takeTurn(ctx, work)
	}
	a.status = 200
	switch {
	case c.PagedFeeds && c.address.Secondary:
		return a, table.NotImplemented.With(table.NotImplemented.Err().Message + " Send requests for changes to the primary.")
	case c.PagedFeeds && f.Request.Stream:
		a.header = changefeed.StreamHeader()
		a.body, err = f.Page(ctx)
		return a, err
	case !f.Request.Stream:
		a.header, a.body, c.resp.Wait, err = f.List(ctx)
		return a, err
	}
	s, err := f.Stream(ctx)
	if err == nil {
		c.resp.Stream, a.header, a.release = s, changefeed.StreamHeader(), func() { _ = s.Close() }
	}
	return a, err
}

package protocol

import (
	"context"
	"sync/atomic"
	"time"

	"edgetable/core/address"
	"edgetable/core/changefeed"
	"edgetable/core/edm"
	"edgetable/core/httpdate"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// Handler serves requests of the protocol. It is safe for concurrent use.
type Handler struct {
	Service *table.Service
	// Accounts finds an account by its lower-case name.
	Accounts func(name string) (*Account, bool)
	// Bearer verifies a bearer token; nil accepts none. An error that does not
	// belong to the protocol becomes 401.
	Bearer func(ctx context.Context, token string) (Identity, error)
	// Challenge is the WWW-Authenticate header of a 401. It names the issuer of bearer
	// tokens and, after " resource_id=", the audience to ask for. If it is empty, the
	// header is SharedKey.
	Challenge string
	// Now returns the wall clock time.
	Now func() edm.Ticks
	// NewID returns 16 random bytes for a request id or a boundary.
	NewID func() [16]byte
	// WithTimeout ends a context after a time, as [context.WithTimeout] does,
	// for requests that have the parameter timeout. Nil disables the parameter.
	// The package does not refer to context.WithTimeout itself, because a
	// runtime without goroutines does not have it.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// MaxSkew is the largest accepted difference between the date of a request
	// and Now; 0 disables the check.
	MaxSkew time.Duration
	// Secondary reports whether the handler serves a secondary. Then every address counts
	// as an address of the secondary. Nil means no.
	Secondary func() bool
	// Extensions turns on features that the protocol does not have: functions in filters,
	// $orderby, and the $count of a table.
	Extensions bool
	// PathStyle makes the handler take the account from the path, whatever the host is.
	PathStyle bool
	// SettingsAge is the time for which the handler uses cached settings of an
	// account (its CORS rules) when other handlers may change them. 0 means
	// half a minute, as in the service. If it is negative, the handler reads the
	// settings for each request.
	SettingsAge time.Duration
	// SettingsMemory is shared with other handlers. If it is nil, this handler keeps its
	// own cache.
	SettingsMemory SettingsMemory
	Limits         Limits
	// Waiters limits how many requests wait for changes of a table. If it is nil, no request waits.
	Waiters *changefeed.Waiters
	// PagedFeeds is set if the caller makes a stream of changes itself, by calling Serve again and again. Serve then answers a
	// request for a stream with the next page of events. It serves changes only at the address of the primary.
	PagedFeeds bool
	// Gate decides about each operation. It may be nil.
	Gate Gate
	// Turns decides when each request may run. If it is nil, each request runs at once.
	Turns Turns
	// Traffic returns the statistics of a table as JSON. If it is nil, the statistics
	// come from the store.
	Traffic func(account, table string) ([]byte, error)
	// KeptBuffer is the size in bytes of the largest body buffer that is kept for later
	// requests; 0 means 2 MiB.
	KeptBuffer int

	date     atomic.Pointer[dateText]
	settings settings.Cache
}

// exchange is the state of one request until its response is complete. All calls
// of a batch share it.
type exchange struct {
	*Handler
	Service table.Service // at first Handler.Service; after authentication a wrapper of it that counts costs
	cost    table.Cost
	visit   Visit
	req     *Request
	resp    Response
	target  address.Target
	address address.Address
	account *Account // nil if the account does not exist
	authority
	signedVersion string // sv of a shared access signature, or ""
	dialect
	plain      bool // whether the answer is plain XML, whatever Accept says
	now        edm.Ticks
	retryAfter time.Duration
	base       string  // URL of the account with a slash at the end
	bodies     *[]byte // bodies of the parts of a changeset's answer, or nil
	turn       Turn    // the permission to run, from Turns; nil if the request has none
	whole      body    // the body of the request, if it was read already
}

func (x *exchange) host() string {
	if x.target.Host != "" {
		return x.target.Host
	}
	return x.req.Host
}

// guid formats 16 bytes as a GUID.
func guid(b [16]byte) string { return edm.Guid(b).String() }

// dateText caches the Date header of one second.
type dateText struct {
	second edm.Ticks
	text   string
}

// httpDate formats t as Mon, 02 Jan 2006 15:04:05 GMT. It formats at most once
// per second.
func (h *Handler) httpDate(t edm.Ticks) string {
	second := t / edm.TicksPerSecond
	d := h.date.Load()
	if d == nil || d.second != second {
		d = &dateText{second, string(httpdate.Append(nil, t.Time()))}
		h.date.Store(d)
	}
	return d.text
}

// body is the body of a request, or the error of reading it.
type body struct {
	b    []byte
	err  error
	read bool
}

package protocol

import (
	"context"
	"sync/atomic"
	"time"

	"edgetable/core/address"
	"edgetable/core/changefeed"
	"edgetable/core/edm"
	"edgetable/core/httpdate"
	"edgetable/core/negotiate"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// Handler serves requests of the protocol. It is safe for concurrent use.
type Handler struct {
	Service *table.Service
	// Accounts finds an account by its lower-case name.
	Accounts func(name string) (*Account, bool)
	// Bearer verifies a bearer token. If Bearer is nil, no token is accepted. An error that is no *table.Error becomes
	// a response with status 401.
	Bearer func(ctx context.Context, token string) (Identity, error)
	// Challenge is the WWW-Authenticate header of a response with status 401. It names the issuer of bearer tokens and,
	// after " resource_id=", the audience for which a client should request a token. If Challenge is empty, the header
	// is SharedKey.
	Challenge string
	// Now returns the wall clock time.
	Now func() edm.Ticks
	// NewID returns 16 random bytes for a request id or a multipart boundary.
	NewID func() [16]byte
	// WithTimeout returns a context that ends after a duration, as [context.WithTimeout] does, for requests with the
	// query parameter timeout. If it is nil, the parameter has no effect. This package does not call
	// context.WithTimeout itself, because a runtime without goroutines lacks that function.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// MaxSkew is the largest accepted difference between the date of a request and the time Now; 0 disables the check.
	MaxSkew time.Duration
	// Secondary reports whether the handler serves a secondary. If so, the handler treats every address as one of the
	// secondary. If Secondary is nil, the handler serves a primary.
	Secondary func() bool
	// Extensions turns on features that the protocol does not have: functions in filters,
	// $orderby, and the $count of a table.
	Extensions bool
	// PathStyle makes the handler take the account from the path, whatever the host is.
	PathStyle bool
	// SettingsAge is how long the handler uses cached settings of an account (its CORS rules), which other handlers may
	// have changed in the meantime. 0 means 30 seconds, as in the service. If SettingsAge is negative, the handler
	// reads the settings for each request.
	SettingsAge time.Duration
	// SettingsMemory is a cache that several handlers share. If it is nil, this handler has only its own cache.
	SettingsMemory settings.Memory
	Limits         Limits
	// Waiters limits how many requests wait for changes of a table. If it is nil, no request waits.
	Waiters *changefeed.Waiters
	// PagedFeeds is set if the caller builds a stream of changes itself: the caller calls Serve repeatedly, and each
	// call of Serve returns the next page of events. Requests for changes at the address of the secondary are then
	// refused.
	PagedFeeds bool
	// Gate decides about each operation. It may be nil.
	Gate Gate
	// Turns decides when each request may run. If it is nil, each request runs at once.
	Turns Turns
	// Traffic returns the traffic statistics of a table as JSON. If it is nil, the handler gets the statistics from the
	// store.
	Traffic func(account, table string) ([]byte, error)
	// KeptBuffer is the size in bytes of the largest body buffer that the handler keeps for later requests; 0 means 2
	// MiB.
	KeptBuffer int

	date     atomic.Pointer[dateText]
	settings settings.Cache
}

// exchange is the state of one request until its response is complete. All calls of a batch share one exchange.
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
	signedVersion string // the signed version (sv) of a shared access signature, or ""
	negotiate.Dialect
	plain      bool // whether the answer is plain XML without OData, whatever the Accept header is
	now        edm.Ticks
	retryAfter time.Duration
	base       string  // URL of the account, ending with a slash
	bodies     *[]byte // the buffer for the bodies in a changeset's answer, or nil
	turn       Turn    // the permission to run, which Turns gives; nil if the request has none
	whole      body    // the body of the request, if it has already been read
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

// httpDate formats t as Mon, 02 Jan 2006 15:04:05 GMT. It caches the text for one second.
func (h *Handler) httpDate(t edm.Ticks) string {
	second := t / edm.TicksPerSecond
	d := h.date.Load()
	if d == nil || d.second != second {
		d = &dateText{second, string(httpdate.Append(nil, t.Time()))}
		h.date.Store(d)
	}
	return d.text
}

// body is the body of a request, or the error that occurred while the body was read.
type body struct {
	b    []byte
	err  error
	read bool
}

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
	// Bearer verifies a bearer token. If Bearer is nil, no token is accepted. An error other than a *table.Error
	// results in status 401.
	Bearer func(ctx context.Context, token string) (Identity, error)
	// Challenge is the WWW-Authenticate header of responses with status 401; "" means SharedKey. It names the issuer of
	// bearer tokens and, after " resource_id=", the audience of a token.
	Challenge string
	// Now returns the wall-clock time.
	Now func() edm.Ticks
	// NewID returns 16 random bytes for a request id or a multipart boundary.
	NewID func() [16]byte
	// WithTimeout has the contract of [context.WithTimeout], which a runtime without goroutines lacks. It applies the
	// query parameter timeout, which has no effect if WithTimeout is nil.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// MaxSkew is the maximum difference between the date of a request and Now. 0 disables the check.
	MaxSkew time.Duration
	// Secondary reports whether the server is a secondary. A nil Secondary means that the server is a primary. A
	// secondary treats every address as the address of the secondary.
	Secondary func() bool
	// Extensions enables features beyond the protocol: functions in filters, $orderby, and the $count of a table.
	Extensions bool
	// PathStyle makes the handler read the account name from the path for every host.
	PathStyle bool
	// SettingsAge is the maximum age of an account's cached settings, which other handlers may have changed. 0 means 30
	// seconds, as in the service. A negative value disables the cache.
	SettingsAge time.Duration
	// SettingsMemory is a cache that several handlers share. If SettingsMemory is nil, only the handler's own cache is
	// used.
	SettingsMemory settings.Memory
	Limits         Limits
	// Waiters limits how many requests wait for changes of a table. If Waiters is nil, no request waits.
	Waiters *changefeed.Waiters
	// PagedFeeds means that the caller builds a stream of changes from pages: each call of Serve returns the next page.
	// The secondary's address then serves no changes.
	PagedFeeds bool
	// Gate decides whether each operation may run. A nil Gate admits all operations.
	Gate Gate
	// Turns schedules the requests. If Turns is nil, no request waits for a turn.
	Turns Turns
	// Traffic returns the traffic statistics of a table as JSON. If Traffic is nil, the handler gets the statistics
	// from the store.
	Traffic func(account, table string) ([]byte, error)
	// KeptBuffer is the maximum size in bytes of a body buffer that the handler retains for reuse. 0 means 2 MiB.
	KeptBuffer int

	date     atomic.Pointer[dateText]
	settings settings.Cache
}

// exchange is the state of one request until its response is complete. All operations of a batch share one exchange.
type exchange struct {
	*Handler
	Service table.Service // Handler.Service; after authentication, a wrapper that counts costs
	cost    table.Cost
	visit   Visit
	req     *Request
	resp    Response
	target  address.Target
	address address.Address
	account *Account // the account, or nil if it does not exist
	authority
	signedVersion string // the signed version (sv) of a shared access signature, or ""
	negotiate.Dialect
	plain      bool // whether the answer is plain XML without OData, regardless of the Accept header
	now        edm.Ticks
	retryAfter time.Duration
	base       string  // URL of the account, ending with a slash
	bodies     *[]byte // buffer that all bodies in the answer to a changeset share, or nil
	turn       Turn    // turn of the request, or nil if it has none
	whole      body    // the request body, if it has been read
}

func (x *exchange) host() string {
	if x.target.Host != "" {
		return x.target.Host
	}
	return x.req.Host
}

func guid(b [16]byte) string { return edm.Guid(b).String() }

// dateText caches the Date header of one second.
type dateText struct {
	second edm.Ticks
	text   string
}

// httpDate formats t as an HTTP date, such as Mon, 02 Jan 2006 15:04:05 GMT. It caches the text for one second.
func (h *Handler) httpDate(t edm.Ticks) string {
	second := t / edm.TicksPerSecond
	d := h.date.Load()
	if d == nil || d.second != second {
		d = &dateText{second, string(httpdate.Append(nil, t.Time()))}
		h.date.Store(d)
	}
	return d.text
}

// body is a request body, or the error from reading it.
type body struct {
	b    []byte
	err  error
	read bool
}

package protocol

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"edgetable/core/edm"
	"edgetable/core/httpdate"
	"edgetable/core/table"
)

// maxTimeout is the largest effective value of the timeout parameter, in
// seconds.
const maxTimeout = 30

// Handler serves requests of the protocol. It is safe for concurrent use.
type Handler struct {
	Service *table.Service
	// Accounts finds an account by its lower-case name.
	Accounts func(name string) (*Account, bool)
	// Bearer verifies a bearer token; nil accepts none. An error that does not
	// belong to the protocol becomes 401.
	Bearer func(ctx context.Context, token string) (Identity, error)
	// Challenge is the WWW-Authenticate header of a 401; it names the place
	// that issues bearer tokens and, behind " resource_id=", the audience to ask
	// for. If it is empty, the header is SharedKey.
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
	// PathStyle takes the account from the path for every host.
	PathStyle bool
	// SettingsAge is the time for which the handler uses cached settings of an
	// account (its CORS rules) when other handlers may change them. 0 means
	// half a minute, as in the service. A negative value reads them for each
	// request.
	SettingsAge time.Duration
	Limits      Limits
	// Gate may be nil.
	Gate Gate
	// Turns may be nil: then each request begins at once.
	Turns Turns
	// KeptBuffer is the size in bytes of the largest buffer of a body that is
	// kept for later requests; 0 means 2 MiB.
	KeptBuffer int

	date     atomic.Pointer[dateText]
	settings settingsCache
}

// exchange is the state of one request until its response is complete. All calls
// of a batch share it.
type exchange struct {
	*Handler
	Service *table.Service // the handler's, and after the authentication metered
	metered table.Service  // counts what it does
	cost    table.Cost
	visit   Visit
	req     *Request
	resp    Response
	target  target
	address address
	account *Account // nil if the account does not exist
	authority
	signedVersion string // sv of a shared access signature, "" without one
	dialect
	plain      bool // the answer is plain XML, whatever Accept says
	now        edm.Ticks
	retryAfter time.Duration
	base       string  // URL of the account with a slash at the end
	bodies     *[]byte // of the parts of a changeset's answer; otherwise nil
	work       Work    // of the last turn
	turn       Turn    // nil outside of a turn, and without Turns
	whole      body    // of the request, if it was read already
	received   int     // its bytes
}

// Serve answers one request. It never fails: every error is a response.
func (h *Handler) Serve(ctx context.Context, req *Request) Response {
	c := h.begin(req)
	c.target = parseTarget(req.Target)
	var optionsErr error
	c.options, optionsErr = parseOptions(c.target.query)
	if c.options.timeout > 0 && h.WithTimeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = h.WithTimeout(ctx, time.Duration(min(c.options.timeout, maxTimeout))*time.Second)
		defer cancel()
	}
	if err := c.serve(ctx, optionsErr); err != nil {
		c.fail(err)
	}
	c.showCost()
	c.cors(ctx)
	if c.resp.Table = c.route.table; table.CheckTableName(c.resp.Table) != nil {
		c.resp.Table = ""
	}
	return c.resp
}

// begin makes a response with the headers that all responses have.
func (h *Handler) begin(req *Request) *call {
	state := new(struct { // one allocation
		call
		exchange
	})
	x, c := &state.exchange, &state.call
	x.Handler, x.Service, x.req, x.now = h, h.Service, req, h.Now()
	c.exchange, c.header = x, req.Header
	c.resp.Method, c.resp.Source = req.Method, req.Source
	c.resp.RequestID = guid(h.NewID())
	c.resp.Header = make([]Field, 0, 16)
	c.resp.add("x-ms-request-id", c.resp.RequestID)
	if id := req.Header.Get("X-Ms-Client-Request-Id"); id != "" && echoable(id) {
		c.resp.ClientRequestID = id
		c.resp.add("x-ms-client-request-id", id)
	}
	c.resp.add("Date", h.httpDate(c.now))
	return c
}

// serve answers the request. It reports wrong options only to authenticated
// clients.
func (c *call) serve(ctx context.Context, optionsErr error) error {
	var ok bool
	if c.address, ok = locate(c.target, c.req.Host, c.PathStyle); !ok {
		return front(table.InvalidURI.With("The requested URI does not represent any resource on the server. Address an account as http://host/account or as http://account.table.host."))
	}
	if isAccountName(c.address.account) {
		c.resp.Account = c.address.account
	}
	if account, ok := c.Accounts(c.address.account); ok {
		c.account = account
	}
	if c.req.Method == "OPTIONS" {
		if err := c.preflight(ctx); err != nil {
			return front(err)
		}
		return nil
	}
	if parseVerb(c.req.Method) == 0 {
		return front(table.UnsupportedHTTPVerb.Err())
	}
	if err := c.authenticate(ctx); err != nil {
		return front(err)
	}
	c.meter()
	var err error
	if c.version, err = checkVersion(c.executed()); err != nil {
		return fault{err: err, xml: true}
	}
	if c.plain = c.options.plain(); !c.plain { // administrative operations do not use OData
		c.odata, err = odataVersion(c.req.Header)
	}
	// The headers of an error depend on the resource.
	var routeErr error
	c.route, routeErr = parseRoute(c.address.account, c.address.rest)
	// All later errors are in the format that the client asked for.
	c.representation = c.responseFormat(c.options.format, c.req.Header.Get("Accept"))
	if err != nil {
		return err
	}
	if optionsErr != nil {
		return optionsErr
	}
	c.base = c.req.Scheme + "://" + c.host() + c.address.base + "/"
	if c.verb, err = tunnelled(c.req.Method, c.req.Header.Values("X-Http-Method")); err != nil {
		return err
	}
	return c.dispatch(ctx, routeErr)
}

// executed returns the version of the protocol that serves the request. Without
// a shared access signature it is x-ms-version. With one it is api-version;
// else, for signatures from version 2014-02-14 on, x-ms-version; else the
// version of the signature.
func (c *call) executed() string {
	asked := c.req.Header.Get("X-Ms-Version")
	switch {
	case c.signedVersion == "":
		return asked
	case c.options.apiVersion != "":
		return c.options.apiVersion
	case asked != "" && c.signedVersion >= pathVersion:
		return asked
	}
	return c.signedVersion
}

func (x *exchange) host() string {
	if x.target.host != "" {
		return x.target.host
	}
	return x.req.Host
}

// dispatch runs the operation of an authenticated request and makes the answer
// the response.
func (c *call) dispatch(ctx context.Context, routeErr error) (err error) {
	if !c.plain {
		if err := c.options.implemented(); err != nil {
			return err
		}
	}
	if routeErr != nil {
		return routeErr
	}
	if c.plain {
		if c.route.resource, err = c.options.selected(c.route.resource); err != nil {
			return err
		}
	}
	out, err := c.do(ctx)
	if c.operation != nil {
		c.resp.Operation = c.operation.name
	}
	if err != nil {
		return err
	}
	c.resp.Status = out.status
	c.head(running)
	c.resp.Header = append(c.applied(c.resp.Header), out.header...)
	c.resp.Body = out.body
	c.chainRelease(out.release)
	return nil
}

// tunnelled returns the effective verb: the verb in X-HTTP-Method of a POST,
// else the method.
func tunnelled(method string, override []string) (verb, error) {
	switch {
	case len(override) == 0:
		return parseVerb(method), nil
	case len(override) > 1:
		return 0, table.XMethodIncorrectCount.Err()
	case strings.EqualFold(strings.TrimSpace(override[0]), method):
		return parseVerb(method), nil // Java clients of 2013 to 2020 repeat the method
	case method != "POST":
		return 0, table.XMethodNotUsingPost.Err()
	}
	v := parseVerb(strings.ToUpper(strings.TrimSpace(override[0])))
	if v&(put|merge|patch|del) == 0 {
		return 0, table.XMethodIncorrectValue.Err()
	}
	return v, nil
}

// echoable reports whether the response may repeat a client request id: it must
// have at most 1024 visible ASCII characters.
func echoable(id string) bool {
	if len(id) > 1024 {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
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

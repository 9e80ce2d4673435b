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
	// Accounts finds an account by its lower-case name. It must return the same
	// pointer each time until the account changes.
	Accounts func(name string) (*Account, bool)
	// Bearer verifies a bearer token; nil accepts none. An error that does not
	// belong to the protocol becomes 401.
	Bearer func(ctx context.Context, token string) (Identity, error)
	// Challenge is the WWW-Authenticate header of a 401; it names the place
	// that issues bearer tokens. If it is empty, the header is SharedKey.
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
	// LastSync returns the last time at which the secondary was known to hold
	// all data of the primary; nil means now.
	LastSync func() edm.Ticks
	// SettingsAge is the time for which the handler uses cached settings of an
	// account (its CORS rules) when other handlers may change them. 0 means
	// half a minute, as in the service. A negative value reads them for each
	// request.
	SettingsAge time.Duration
	Limits      Limits
	// Gate may be nil.
	Gate Gate

	date atomic.Pointer[dateText]
}

// exchange is the state of one request until its response is complete.
type exchange struct {
	*Handler
	req     *Request
	resp    Response
	target  target
	address address
	account *Account // nil if the account does not exist
	options options
	authority
	signedVersion string // sv of a shared access signature, "" without one
	dialect
	representation
	verb       string // after X-HTTP-Method was applied
	prefer     preference
	plain      bool // the answer is plain XML, whatever Accept says
	now        edm.Ticks
	retryAfter time.Duration
	base       string // URL of the account with a slash at the end
}

// Serve answers one request. It never fails: every error is a response.
func (h *Handler) Serve(ctx context.Context, req *Request) Response {
	x := h.begin(req)
	x.target = parseTarget(req.Target)
	var optionsErr error
	x.options, optionsErr = parseOptions(x.target.query)
	if x.options.timeout > 0 && h.WithTimeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = h.WithTimeout(ctx, time.Duration(min(x.options.timeout, maxTimeout))*time.Second)
		defer cancel()
	}
	if err := x.serve(ctx, optionsErr); err != nil {
		x.fail(err)
	}
	x.cors(ctx)
	if table.CheckTableName(x.resp.Table) != nil {
		x.resp.Table = ""
	}
	return x.resp
}

// begin makes a response with the headers that all responses have.
func (h *Handler) begin(req *Request) *exchange {
	x := &exchange{Handler: h, req: req, now: h.Now()}
	x.resp.Method, x.resp.Source = req.Method, req.Source
	x.resp.RequestID = guid(h.NewID())
	x.resp.Header = make([]Field, 0, 16)
	x.resp.add("x-ms-request-id", x.resp.RequestID)
	if id := req.Header.Get("X-Ms-Client-Request-Id"); id != "" && echoable(id) {
		x.resp.ClientRequestID = id
		x.resp.add("x-ms-client-request-id", id)
	}
	x.resp.add("Date", h.httpDate(x.now))
	return x
}

// serve answers the request. It reports wrong options only to authenticated
// clients.
func (x *exchange) serve(ctx context.Context, optionsErr error) error {
	var ok bool
	if x.address, ok = locate(x.target, x.req.Host, x.PathStyle); !ok {
		return x.front(table.InvalidURI.With("The requested URI does not represent any resource on the server. Address an account as http://host/account or as http://account.table.host."))
	}
	if isAccountName(x.address.account) {
		x.resp.Account = x.address.account
	}
	if account, ok := x.Accounts(x.address.account); ok {
		x.account = account
	}
	switch x.req.Method {
	case "GET", "PUT", "POST", "DELETE", "MERGE", "PATCH", "HEAD":
	case "OPTIONS":
		if err := x.preflight(ctx); err != nil {
			return x.front(err)
		}
		return nil
	default:
		return x.front(table.UnsupportedHTTPVerb.Err())
	}
	if err := x.authenticate(ctx); err != nil {
		return x.front(err)
	}
	var err error
	if x.version, err = checkVersion(x.executed()); err != nil {
		return fault{err: err, xml: true}
	}
	x.resp.add("Server", serverName)
	x.plain = x.options.comp != "" || x.options.restype != ""
	if !x.plain {
		x.resp.Header = append(x.resp.Header,
			Field{Name: "Cache-Control", Value: "no-cache"},
			Field{Name: "X-Content-Type-Options", Value: "nosniff"})
	}
	if x.version != "" {
		x.resp.add("x-ms-version", x.version)
	}
	if !x.plain { // administrative operations do not use OData
		x.dialect.odata, err = odataVersion(x.req.Header)
	}
	// All later errors are in the format that the client asked for.
	x.representation = x.responseFormat(x.options.format, x.req.Header.Get("Accept"))
	if err != nil {
		return err
	}
	if optionsErr != nil {
		return optionsErr
	}
	x.base = x.req.Scheme + "://" + x.host() + x.address.base + "/"
	if x.verb, err = tunnelled(x.req.Method, x.req.Header.Values("X-Http-Method")); err != nil {
		return err
	}
	return x.dispatch(ctx)
}

const serverName = "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0"

// executed returns the version of the protocol that serves the request. Without
// a shared access signature it is x-ms-version. With one it is api-version;
// else, for signatures from version 2014-02-14 on, x-ms-version; else the
// version of the signature.
func (x *exchange) executed() string {
	asked := x.req.Header.Get("X-Ms-Version")
	switch {
	case x.signedVersion == "":
		return asked
	case x.options.apiVersion != "":
		return x.options.apiVersion
	case asked != "" && x.signedVersion >= pathVersion:
		return asked
	}
	return x.signedVersion
}

func (x *exchange) host() string {
	if x.target.host != "" {
		return x.target.host
	}
	return x.req.Host
}

// dispatch routes an authenticated request.
func (x *exchange) dispatch(ctx context.Context) error {
	if x.plain {
		return x.administration(ctx)
	}
	if err := x.options.implemented(); err != nil {
		return err
	}
	r, err := parseRoute(x.address.account, x.address.rest)
	if err != nil {
		return err
	}
	write := x.verb != "GET" && x.verb != "HEAD"
	if x.address.secondary && write && r.resource != batch {
		return table.InsufficientAccountPermissions.Err()
	}
	if r.resource == batch {
		return x.serveBatch(ctx)
	}
	c := &call{
		exchange: x, route: r, verb: x.verb, options: &x.options, header: x.req.Header,
		representation: x.representation, body: x.body,
	}
	out, err := c.do(ctx)
	x.prefer = c.prefer
	x.resp.Operation, x.resp.Table = c.operation, c.route.table
	if err != nil {
		return err
	}
	x.resp.Status = out.status
	x.resp.Header = append(c.applied(x.resp.Header), out.header...)
	x.resp.Body = out.body
	x.chainRelease(out.release)
	return nil
}

// tunnelled returns the effective verb: the verb in X-HTTP-Method of a POST,
// else the method.
func tunnelled(method string, override []string) (string, error) {
	switch {
	case len(override) == 0:
		return method, nil
	case len(override) > 1:
		return "", table.XMethodIncorrectCount.Err()
	case strings.EqualFold(strings.TrimSpace(override[0]), method):
		return method, nil // Java clients of 2013 to 2020 repeat the method
	case method != "POST":
		return "", table.XMethodNotUsingPost.Err()
	}
	switch verb := strings.ToUpper(strings.TrimSpace(override[0])); verb {
	case "MERGE", "PATCH", "PUT", "DELETE":
		return verb, nil
	}
	return "", table.XMethodIncorrectValue.Err()
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

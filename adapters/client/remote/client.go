package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// version is the x-ms-version of requests. The Azure SDKs for tables send the same version.
const version = "2019-02-02"

// Client sends requests to one account. It is safe for concurrent use.
type Client struct {
	// Tool marks requests as requests of a tool instead of an application. Traffic statistics omit them.
	Tool bool
	// As contains the value of the flag --from that selects this service, for messages. The value is "" for the default
	// service, or if it would contain a secret.
	As string

	// OnWait, if not nil, is called before a failed request is retried, and when a request takes longer than five
	// seconds. The cause is nil for a slow request. A refusal because of load does not count as a failure.
	//
	// The parameter until is the time at which the client stops retrying. OnWait is not called again until a request
	// has succeeded.
	OnWait func(cause error, until time.Time)

	endpoint  Endpoint
	http      *http.Client
	limit     *limiter
	repeatFor time.Duration
	notified  atomic.Bool // OnWait has been called since the last successful request

	requests, refusals atomic.Int64
	traffic            atomic.Int64 // total size of request and response bodies in bytes
}

// repeatFor is how long a client retries a request. A service may take that long to move a partition or to restart.
const repeatFor = 2 * time.Minute

// New returns a Client with at most the given number of requests in flight.
func New(e Endpoint, connections int) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = connections, connections
	t.ReadBufferSize, t.WriteBufferSize = 64<<10, 64<<10
	t.DisableCompression = true
	t.ResponseHeaderTimeout = time.Minute
	t.ForceAttemptHTTP2 = false // HTTP/2 would send all requests over one connection
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}}
	return NewWithTransport(t, e, connections)
}

// NewWithTransport returns a Client that sends its requests through the given transport instead of the network.
func NewWithTransport(way http.RoundTripper, e Endpoint, connections int) *Client {
	return &Client{endpoint: e, http: &http.Client{Transport: way}, limit: newLimiter(connections), repeatFor: repeatFor}
}

// Endpoint returns the account that the client uses.
func (c *Client) Endpoint() Endpoint { return c.endpoint }

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Traffic returns the total size of request and response bodies in bytes.
func (c *Client) Traffic() int64 { return c.traffic.Load() }

// Load returns the number of requests with a response, the number of refusals because of load, and the current limit of
// requests in flight.
func (c *Client) Load() (requests, refusals int64, bound int) {
	return c.requests.Load(), c.refusals.Load(), c.limit.currentLimit()
}

type request struct {
	method      string
	path        string // path relative to the account, escaped, with a leading slash
	query       string // query string, escaped
	contentType string
	match       string // value of If-Match
	order       string // value of $orderby
	body        []byte
	check       func(*response) *Error // function that returns the error in the body of a successful response, for example a batch response
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request until it succeeds or fails permanently. It appends the response body to the given buffer, which
// may be nil.
func (c *Client) send(ctx context.Context, r request, into []byte) (resp response, err error) {
	w := c.waits()
	defer func() { w.end(err) }()
	first, lost := time.Now(), false
	for attempt := 0; ; attempt++ {
		resp, wait, err := c.attempt(ctx, &r, into)
		answer, answered := errors.AsType[*Error](err)
		if answered {
			answer.Repeated = lost
		}
		if err == nil || wait < 0 {
			return resp, err
		}
		lost = lost || !answered || !answer.refusesLoad()
		if wait == 0 {
			wait = backoff(attempt)
		}
		if time.Since(first)+wait > c.repeatFor {
			return resp, err
		}
		w.reportRetry(err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return resp, context.Cause(ctx)
		}
	}
}

// backoff returns the delay before a retry. It doubles from 0.1 s to 25 s, minus a random part, so that clients do not
// retry at the same time.
func backoff(attempt int) time.Duration {
	d := 100 * time.Millisecond << min(attempt, 8)
	return d/2 + rand.N(d/2)
}

// attempt sends a request once. After an error, the result wait is the delay before a retry: 0 if the service specifies
// no delay, and -1 if the request must not be retried.
func (c *Client) attempt(ctx context.Context, r *request, into []byte) (resp response, wait time.Duration, err error) {
	since, err := c.limit.acquire(ctx)
	if err != nil {
		if !since.IsZero() {
			c.limit.abandon()
		}
		return resp, -1, context.Cause(ctx)
	}
	resp, err = c.exchange(ctx, r, into)
	if err != nil {
		c.limit.abandon()
		if ctx.Err() != nil {
			return resp, -1, context.Cause(ctx)
		}
		return resp, c.retryWait(err), err
	}
	c.requests.Add(1)
	var failure *Error
	if resp.status >= http.StatusBadRequest {
		failure = ReadError(resp.status, resp.body)
	} else if r.check != nil {
		failure = r.check(&resp)
	}
	if failure != nil {
		failure.Advice = c.endpoint.advice(failure, c.As, time.Now())
	}
	refused := failure != nil && failure.refusesLoad()
	if refused {
		c.refusals.Add(1)
	}
	c.limit.release(since, refused)
	switch {
	case failure == nil:
		return resp, 0, nil
	case transient(failure.Status) && failure.Message != table.DamagedText:
		return resp, retryAfter(resp.header), failure
	}
	return resp, -1, failure
}

// retryWait returns -1 for a network error that a retry cannot resolve, such as a wrong certificate. For other errors
// it returns 0.
func (c *Client) retryWait(err error) time.Duration {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, header := errors.AsType[tls.RecordHeaderError](err)
	if certificate || header || errors.Is(err, http.ErrSchemeMismatch) {
		return -1
	}
	connect, ok := errors.AsType[*net.OpError](err)
	if never := c.requests.Load() == 0; never && (ok && connect.Op == "dial" || isHandshakeTimeout(err)) {
		return -1
	}
	return 0
}

// isHandshakeTimeout reports whether err is the TLS handshake timeout of net/http, which has no error type. A server
// without TLS causes it.
func isHandshakeTimeout(err error) bool {
	return strings.Contains(err.Error(), "TLS handshake timeout")
}

// maxRetryAfter is the longest delay that a Retry-After header can request.
const maxRetryAfter = 30 * time.Second

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// exchange signs and sends a request, and reads the whole response.
func (c *Client) exchange(ctx context.Context, r *request, into []byte) (response, error) {
	req, err := c.signed(ctx, r)
	if err != nil {
		return response{}, err
	}
	answer, err := c.http.Do(req)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok { // the text of a url.Error contains the URL, which may include a signature
			err = fmt.Errorf("%s %s: %w", r.method, c.endpoint, outer.Err)
			if errors.Is(err, syscall.ECONNREFUSED) {
				err = fmt.Errorf("%w; start the server there, or name another service", err)
			}
		}
		return response{}, err
	}
	defer answer.Body.Close()
	body := bytes.NewBuffer(into)
	if n := int(answer.ContentLength); n > 0 && n < 64<<20 {
		body.Grow(n + bytes.MinRead)
	}
	if _, err := body.ReadFrom(answer.Body); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the response is truncated")
		}
		return response{}, fmt.Errorf("%s %s: %w", r.method, c.endpoint, err)
	}
	c.traffic.Add(int64(len(r.body) + body.Len()))
	return response{status: answer.StatusCode, header: answer.Header, body: body.Bytes()}, nil
}

func (c *Client) signed(ctx context.Context, r *request) (*http.Request, error) {
	req, err := c.endpoint.request(ctx, r.method, r.path, r.query, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h["x-ms-version"] = []string{version}
	h.Set("DataServiceVersion", "3.0")
	h.Set("MaxDataServiceVersion", "3.0")
	h.Set("Accept", acceptJSON)
	h.Set("User-Agent", "edgetable")
	if c.Tool {
		h.Set("X-Edgetable-Tool", "edgetable")
	}
	if r.method != http.MethodGet {
		h.Set("Prefer", "return-no-content")
	}
	if r.contentType != "" {
		h.Set("Content-Type", r.contentType)
	}
	if r.order != "" {
		h[orderHeader] = []string{r.order}
	}
	if r.match != "" {
		h.Set("If-Match", r.match)
	}
	return req, nil
}

// request returns an HTTP request that is signed with the key, or that has the shared access signature in its query.
func (e *Endpoint) request(ctx context.Context, method, path, query string, body io.Reader) (*http.Request, error) {
	u, err := url.Parse(e.url.String() + path)
	if err != nil {
		return nil, err
	}
	u.RawQuery = query
	if e.token != "" {
		if query != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += e.token
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	date := sharedkey.FormatDate(time.Now())
	req.Header["x-ms-date"] = []string{date}
	if e.key != nil {
		req.Header.Set("Authorization", e.key.Authorization(sharedkey.SharedKeyLite, e.account,
			sharedkey.Request{Method: method, Path: u.EscapedPath(), RawQuery: query, XMSDate: date}))
	}
	return req, nil
}

const (
	acceptJSON  = "application/json;odata=minimalmetadata"
	contentJSON = "application/json"
)

package protocol

import (
	"context"
	"strings"
	"time"

	"edgetable/core/address"
	"edgetable/core/negotiate"
	"edgetable/core/table"
	"edgetable/core/version"
)

// maxTimeout is the highest value of the query parameter timeout that has an effect, in seconds.
const maxTimeout = 30

// Serve answers one request. Errors are returned as error responses.
func (h *Handler) Serve(ctx context.Context, req *Request) (resp Response) {
	for resp = h.serve(ctx, req); resp.Wait != nil && !req.ServesAgain; resp = h.serve(ctx, req) {
		resp.Wait.Await()
		req.Waited = resp.Wait
	}
	return resp
}

func (h *Handler) serve(ctx context.Context, req *Request) Response {
	c := h.newCall(req)
	c.target = address.Parse(req.Target)
	var optionsErr error
	c.options, optionsErr = address.ParseOptions(c.target.Query)
	if c.options.Timeout > 0 && h.WithTimeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = h.WithTimeout(ctx, time.Duration(min(c.options.Timeout, maxTimeout))*time.Second)
		defer cancel()
	}
	if err := c.serve(ctx, optionsErr); err != nil {
		c.fail(err)
	}
	c.showCost()
	c.cors(ctx)
	if c.resp.Table = c.route.Table; table.CheckTableName(c.resp.Table) != nil {
		c.resp.Table = ""
	}
	return c.resp
}

// newCall returns a new call. Its response already has the headers that all responses share.
func (h *Handler) newCall(req *Request) *call {
	state := new(struct { // one struct needs only one allocation
		call
		exchange
		fields [16]Field
	})
	x, c := &state.exchange, &state.call
	x.Handler, x.Service, x.req, x.now = h, *h.Service, req, h.Now()
	c.exchange, c.header = x, req.Header
	c.resp.Method, c.resp.Source = req.Method, req.Source
	c.resp.RequestID = guid(h.NewID())
	c.resp.Header = state.fields[:0]
	c.resp.add("x-ms-request-id", c.resp.RequestID)
	if id := req.Header.Get("X-Ms-Client-Request-Id"); id != "" && echoable(id) {
		c.resp.ClientRequestID = id
		c.resp.add("x-ms-client-request-id", id)
	}
	c.resp.add("Date", h.httpDate(c.now))
	return c
}

// serve answers the request. It reports errors in the query options only after authentication.
func (c *call) serve(ctx context.Context, optionsErr error) error {
	var ok bool
	if c.address, ok = c.target.Locate(c.req.Host, c.PathStyle); !ok {
		return front(table.InvalidURI.With("The requested URI does not represent any resource on the server. Address an account as http://host/account or as http://account.table.host."))
	}
	if c.Secondary != nil && c.Secondary() {
		c.address.Secondary = true
	}
	if account, ok := c.Accounts(c.address.Account); ok {
		c.account, c.resp.Account = account, c.address.Account
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
	c.resp.SignedIn = true
	c.meter()
	var err error
	if c.Version, err = negotiate.CheckVersion(c.effectiveVersion()); err != nil {
		return fault{err: err, xml: true}
	}
	if c.plain = c.options.Plain(); !c.plain { // administrative operations ignore OData versions
		c.OData, err = negotiate.ODataVersion(c.req.Header)
	}
	// parse the route first: the headers of an error depend on the resource
	var routeErr error
	c.route, routeErr = address.ParseRoute(c.address.Account, c.address.Rest, c.Extensions)
	// From here on, errors are in the format that the client requested.
	c.Representation = c.ResponseFormat(c.options.Format, c.req.Header.Get("Accept"))
	if err != nil {
		return err
	}
	if optionsErr != nil {
		return optionsErr
	}
	c.base = c.req.Scheme + "://" + c.host() + c.address.Base + "/"
	if c.verb, err = effectiveVerb(c.req.Method, c.req.Header.Values("X-Http-Method")); err != nil {
		return err
	}
	return c.dispatch(ctx, routeErr)
}

// effectiveVersion returns the protocol version of the request. Without a shared access signature, it is x-ms-version.
// With one, it is the first of the following that is present:
//   - api-version
//   - x-ms-version, if the signed version is 2014-02-14 or later
//   - the signed version
func (c *call) effectiveVersion() string {
	asked := c.req.Header.Get("X-Ms-Version")
	switch {
	case c.signedVersion == "":
		return asked
	case c.options.APIVersion != "":
		return c.options.APIVersion
	case asked != "" && c.signedVersion >= version.HeaderFirst:
		return asked
	}
	return c.signedVersion
}

// dispatch runs the operation of an authenticated request and copies its answer into the response.
func (c *call) dispatch(ctx context.Context, routeErr error) (err error) {
	if !c.plain {
		if err := c.options.CheckImplemented(c.route.Resource, c.Extensions); err != nil {
			return err
		}
	}
	if routeErr != nil {
		return routeErr
	}
	if c.plain {
		if c.route.Resource, err = c.options.SelectResource(c.route.Resource); err != nil {
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
	c.resp.Header = append(c.appendPreference(c.resp.Header), out.header...)
	c.resp.Body = out.body
	c.chainRelease(out.release)
	return nil
}

// effectiveVerb returns the verb in the X-HTTP-Method header of a POST, or otherwise the verb of the method.
func effectiveVerb(method string, override []string) (verb, error) {
	switch {
	case len(override) == 0:
		return parseVerb(method), nil
	case len(override) > 1:
		return 0, table.XMethodIncorrectCount.Err()
	case strings.EqualFold(strings.TrimSpace(override[0]), method):
		return parseVerb(method), nil // the header only repeats the method, as sent by Java clients from 2013 to 2020
	case method != "POST":
		return 0, table.XMethodNotUsingPost.Err()
	}
	v := parseVerb(strings.ToUpper(strings.TrimSpace(override[0])))
	if v&(put|merge|patch|del) == 0 {
		return 0, table.XMethodIncorrectValue.Err()
	}
	return v, nil
}

// echoable reports whether the response may repeat a client request id. The id must have at most 1024 characters, all
// of them visible ASCII.
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

// Refuse returns an error response for a request that the transport refuses without calling Serve.
func (h *Handler) Refuse(req *Request, err *table.Error) Response {
	c := h.newCall(req)
	c.fail(front(err))
	return c.resp
}

func (c *call) do(ctx context.Context) (answer, error) {
	err := c.find()
	switch {
	case err != nil && c.identity != nil && c.route.Resource == address.TableACL && asError(err).Code == table.ResourceNotFound:
		return answer{}, c.tableFirst(ctx, err)
	case err != nil:
		return answer{}, err
	case c.route.Misbuilt != nil:
		if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
			return answer{}, err
		}
		return answer{}, c.tableFirst(ctx, c.route.Misbuilt)
	}
	if c.Turns == nil || c.turn != nil { // an operation of a batch runs in the turn of the batch
		return c.run(ctx)
	}
	return c.inTurn(ctx)
}

// inTurn reads the body, waits for a turn, and runs the operation.
func (c *call) inTurn(ctx context.Context) (a answer, err error) {
	if c.operation.verb&(post|put|merge|patch) != 0 {
		b, err := c.readBody()
		c.whole = body{b, err, true}
	}
	err = c.takeTurn(ctx, Work{
		Payer: c.account.Name, IsAccount: true, Write: c.operation.write,
		Query: (c.route.Resource == address.EntitySet || c.route.Resource == address.EntityCount || c.route.Resource == address.TableChanges) && !c.operation.write,
	})
	if err != nil {
		return answer{}, err
	}
	defer func() { c.endTurn(len(a.body)) }()
	return c.run(ctx)
}

// run executes the operation. It calls checkAccess first, except for batches and for operations with an answer in JSON
// or ATOM. These operations and batches call admit themselves when they know their entities.
func (c *call) run(ctx context.Context) (answer, error) {
	if c.operation.otherFormat && !c.operation.inParts {
		if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
			return answer{}, err
		}
	}
	return c.operation.run(c, ctx)
}

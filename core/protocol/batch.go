package protocol

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/address"
	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/negotiate"
	"edgetable/core/payload"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// serveBatch answers POST /$batch, which contains an entity group transaction or one query. The status is 202, unless
// the batch itself is invalid, for example in its framing or size.
//
// The response to a failed changeset has a single part with the error. Its message begins with the index of the failed
// operation.
func (c *call) serveBatch(ctx context.Context) (answer, error) {
	boundary, err := multipart.Boundary(c.header.Get("Content-Type"))
	if err != nil {
		return answer{}, batchError(err)
	}
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	b, err := multipart.Parse(body, boundary, table.MaxBatchOperations)
	if err != nil {
		return answer{}, batchError(err)
	}
	part, err := b.Single()
	switch {
	case errors.Is(err, multipart.TooMany):
		last := c.inBatch(&b.Parts[0].Operations[table.MaxBatchOperations-1])
		_ = last.decode() // decode also selects the error format, from the operation's Accept header
		last.prefer = last.preference()
		return c.changeset(last.failPart(table.TooManyOperations(), running)), nil
	case err != nil:
		return answer{}, batchError(err)
	case !part.Changeset:
		return c.batchQuery(ctx, c.inBatch(&part.Operations[0]))
	case len(part.Operations) == 0:
		return c.changeset(), nil
	case c.address.Secondary:
		return answer{}, table.InsufficientAccountPermissions.Err()
	}
	return c.transact(ctx, part.Operations)
}

// batchError converts an error of package multipart into an error of the protocol.
func batchError(err error) error {
	var e *multipart.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.TrimPrefix(e.Error(), "multipart: ")
	return table.InvalidInput.With("One of the request inputs is not valid. " + strings.ToUpper(text[:1]) + text[1:] + ".")
}

// transact runs a changeset. A retriable error becomes an ordinary error response, because clients decide about retries
// only by the status of the whole response.
func (c *call) transact(ctx context.Context, parts []multipart.Operation) (answer, error) {
	calls := make([]*call, len(parts))
	ops := make([]table.Operation, len(parts))
	for i := range parts {
		p := c.inBatch(&parts[i])
		calls[i] = p
		if parts[i].Method == "" {
			return c.changeset(c.unreadPart()), nil
		}
		var err error
		if ops[i], err = p.partOperation(); err == nil && table.FoldName(p.route.Table) != table.FoldName(calls[0].route.Table) {
			err = table.CommandsInBatchActOnDifferentPartitions.Err()
		}
		if err != nil {
			return c.changeset(p.failOperation(asError(err).WithIndex(i), len(parts))), nil
		}
	}
	c.route.Table = calls[0].route.Table
	c.visitWrite(ops...)
	if err := c.checkAccess(ctx, Access{PartitionKey: ops[0].PartitionKey, HasPartition: true, Entities: len(ops)}); err != nil {
		return answer{}, err
	}
	ticks, err := c.Service.Transact(ctx, c.name(), ops)
	if err != nil {
		e := asError(err)
		if e.Retriable() {
			return answer{}, e.WithoutIndex()
		}
		return c.changeset(calls[min(e.Index, len(calls)-1)].failOperation(e, len(calls))), nil
	}
	size := 0
	for i, p := range calls {
		if ops[i].Action == table.Insert && p.prefer != negotiate.ReturnNoContent {
			size += shownSize(ops[i].Properties)
		}
	}
	bodies := c.getBuffer(size)
	c.bodies = bodies
	c.chainRelease(func() { c.putBuffer(bodies) })
	responses := make([]multipart.Response, len(calls))
	for i, p := range calls {
		responses[i] = p.partResponse(&ops[i], ticks)
	}
	return c.changeset(responses...), nil
}

func (c *call) inBatch(op *multipart.Operation) *call {
	return &call{exchange: c.exchange, part: op, verb: parseVerb(op.Method), header: op.Header, Representation: c.Representation}
}

// decode parses the target of an operation of a batch. It ignores the host, because the batch request already
// determines the account.
func (c *call) decode() error {
	t := address.Parse(c.part.Target)
	path := strings.TrimLeft(t.Path, "/")
	if c.address.Base != "" {
		// In path style, the first segment is the account name, unless the client's base URL lacks it. A batch that is
		// retried at the secondary still names the primary.
		segment, rest, _ := strings.Cut(path, "/")
		name, _ := percent.Decode(segment, false)
		if strings.TrimSuffix(name, address.SecondarySuffix) == c.address.Account {
			path = strings.TrimLeft(rest, "/")
		}
	}
	var err error
	c.options, err = address.ParseOptions(t.Query)
	// Clients send contradictory OData versions in the parts, so the OData version of a part is ignored.
	c.Representation = negotiate.Dialect{Version: c.Version}.ResponseFormat(c.options.Format, c.header.Get("Accept"))
	if err == nil {
		err = c.options.CheckImplemented(address.EntitySet, c.Extensions)
	}
	if err != nil {
		return err
	}
	c.route, err = address.ParseRoute(c.address.Account, path, false)
	return err
}

var errPart = table.InvalidInput.With("One of the request inputs is not valid. An operation of a changeset must be POST, PUT, MERGE, PATCH or DELETE on an entity of a table.")

var errPartQuery = table.InvalidInput.With("One of the request inputs is not valid. The query of a batch must be a GET of an entity or of the entities of a table.")

func (c *call) partOperation() (table.Operation, error) {
	if err := c.decode(); err != nil {
		return table.Operation{}, err
	}
	var err error
	if c.verb, err = effectiveVerb(c.part.Method, c.header.Values("X-Http-Method")); err != nil {
		return table.Operation{}, err
	}
	switch r := c.route.Resource; {
	case c.options.Plain() || r != address.Root && !r.Entities():
		return table.Operation{}, errPart
	case r == address.Root:
		return table.Operation{}, table.MethodNotAllowed.Err()
	case c.route.Misbuilt != nil:
		return table.Operation{}, c.route.Misbuilt
	}
	if err := c.find(); err != nil {
		return table.Operation{}, err
	}
	return c.entityOperation()
}

// failOperation returns the only response part of a failed changeset. Its message begins with the index of the failed
// operation, unless the changeset has only this operation (in the phase running).
func (c *call) failOperation(e *table.Error, of int) multipart.Response {
	found := c.phaseOf(e)
	if of == 1 && found == running {
		e = e.WithoutIndex()
	}
	return c.failPart(e, found)
}

// partResponse returns the response part for a successful write. The headers are in the same order as in the service.
func (c *call) partResponse(op *table.Operation, ticks edm.Ticks) multipart.Response {
	a := c.writeAnswer(op, ticks)
	if a.status != 204 {
		return c.contentPart(a)
	}
	version := "1.0;"
	if c.prefer != negotiate.NoPreference {
		version = "3.0;" // Prefer exists only since OData 3
	}
	h := append(c.appendPreference(c.partHeader(running)), Field{Name: "DataServiceVersion", Value: version})
	return multipart.Response{Status: a.status, Header: append(h, a.header...)}
}

// unreadPart returns the error response to a changeset with an unreadable part. Such a part has no request, or the head
// of its request is malformed.
func (x *exchange) unreadPart() multipart.Response {
	e := table.InvalidInput.With("An error occurred while processing this request. A part of the changeset has no valid request: a request needs a request line, one line for each header, a numeric Content-Length, and an empty line.")
	x.resp.Code = string(e.Code)
	return multipart.Response{
		Status: e.Status(),
		Header: multipart.Header{
			{Name: "DataServiceVersion", Value: "1.0;"},
			{Name: "Content-Type", Value: payload.Atom.ErrorContentType()},
		},
		Body: payload.Atom.AppendError(nil, e, x.resp.RequestID, x.now),
	}
}

// contentPart returns the response part for an answer with a body. The headers that describe the body come first.
func (c *call) contentPart(a answer) multipart.Response {
	h := multipart.Header{
		{Name: "DataServiceVersion", Value: c.dataServiceVersion()},
		{Name: "Content-Type", Value: a.header.Get("Content-Type")},
	}
	h = c.appendPreference(append(h, c.partHeader(running)...))
	for _, f := range a.header {
		if f.Name != "Content-Type" {
			h = append(h, f)
		}
	}
	return multipart.Response{Status: a.status, Header: h, Body: a.body}
}

func (x *exchange) changeset(parts ...multipart.Response) answer {
	batch, changeset := "batchresponse_"+guid(x.NewID()), "changesetresponse_"+guid(x.NewID())
	size := 256
	for i := range parts {
		size += partSize(&parts[i])
	}
	return x.batchAnswer(batch, size, func(dst []byte) []byte {
		return multipart.AppendChangeset(dst, batch, changeset, parts)
	})
}

func partSize(r *multipart.Response) int { return 768 + len(r.Body) }

func (x *exchange) batchAnswer(boundary string, size int, body func(dst []byte) []byte) answer {
	buf := x.getBuffer(size)
	*buf = body(*buf)
	return answer{
		status:  202,
		header:  multipart.Header{{Name: "Content-Type", Value: "multipart/mixed; boundary=" + boundary}},
		body:    *buf,
		release: func() { x.putBuffer(buf) },
	}
}

func (c *call) batchQuery(ctx context.Context, query *call) (answer, error) {
	boundary := "batchresponse_" + guid(c.NewID())
	err := query.decode()
	if err == nil && (!query.route.Resource.Entities() || query.options.Plain()) {
		err = errPartQuery
	}
	var a answer
	if err == nil {
		a, err = query.do(ctx)
	}
	var part multipart.Response
	switch {
	case err == nil:
		c.route.Table = query.route.Table
		c.chainRelease(a.release)
		part = query.contentPart(a)
	case asError(err).Retriable():
		return answer{}, err
	default:
		e := asError(err).WithIndex(0)
		part = query.failPart(e, query.phaseOf(e))
	}
	return c.batchAnswer(boundary, 256+partSize(&part), func(dst []byte) []byte { return multipart.AppendQuery(dst, boundary, part) }), nil
}

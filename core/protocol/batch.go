package protocol

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// serveBatch answers POST /$batch: an entity group transaction, or one query.
//
// A fault of the whole request (its framing, its size) gets a plain error.
// After these checks the status is 202. If an operation fails, the changeset of
// the response has one part, and its error message begins with the index of the
// operation.
func (x *exchange) serveBatch(ctx context.Context) error {
	if x.verb != "POST" || x.req.Method != "POST" {
		return table.MethodNotAllowed.Err()
	}
	x.resp.Operation = "EntityGroupTransaction"
	boundary, err := multipart.Boundary(x.req.Header.Get("Content-Type"))
	if err != nil {
		return batchError(err)
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	b, err := multipart.Parse(body, boundary, table.MaxBatchOperations)
	if err != nil {
		return batchError(err)
	}
	part, err := b.Single()
	if errors.Is(err, multipart.TooMany) {
		last := x.part(&b.Parts[0].Operations[table.MaxBatchOperations-1])
		_ = last.decode() // finds the format that the operation asks for
		last.prefer = last.preference()
		x.changeset(x.failPart(last, table.TooManyOperations()))
		return nil
	}
	if err != nil {
		return batchError(err)
	}
	if part.Changeset && len(part.Operations) == 0 {
		x.changeset()
		return nil
	}
	if !part.Changeset {
		return x.batchQuery(ctx, x.part(&part.Operations[0]))
	}
	if x.address.secondary {
		return table.InsufficientAccountPermissions.Err()
	}
	return x.transact(ctx, part.Operations)
}

// batchError converts an error of package multipart into a plain error.
func batchError(err error) error {
	var e *multipart.Error
	if !errors.As(err, &e) {
		return err
	}
	return table.InvalidInput.With("One of the request inputs is not valid. " + capital(strings.TrimPrefix(e.Error(), "multipart: ")))
}

// transact runs a changeset. An error that the client should retry is a plain
// error, because client retries look only at the status of the response.
func (x *exchange) transact(ctx context.Context, parts []multipart.Operation) error {
	calls := make([]*call, len(parts))
	ops := make([]table.Operation, len(parts))
	for i := range parts {
		c := x.part(&parts[i])
		calls[i] = c
		if parts[i].Method == "" {
			x.changeset(x.emptyPart())
			return nil
		}
		var err error
		if ops[i], err = c.partOperation(); err == nil && table.FoldName(c.route.table) != table.FoldName(calls[0].route.table) {
			err = table.CommandsInBatchActOnDifferentPartitions.Err()
		}
		if err != nil {
			x.changeset(x.failPart(c, asError(err).At(i)))
			return nil
		}
	}
	x.resp.Table = calls[0].route.table
	err := x.admit(ctx, Access{
		Operation: x.resp.Operation, Table: calls[0].route.table,
		PartitionKey: ops[0].PartitionKey, HasPartition: true, Write: true, Entities: len(ops),
	})
	if err != nil {
		return err
	}
	ticks, err := x.Service.Transact(ctx, calls[0].name(), ops)
	if err != nil {
		e := asError(err)
		if e.Retriable() {
			return e.Whole()
		}
		x.changeset(x.failPart(calls[min(e.Index, len(calls)-1)], e))
		return nil
	}
	responses := make([]multipart.Response, len(calls))
	for i, c := range calls {
		responses[i] = c.partResponse(&ops[i], ticks)
	}
	x.changeset(responses...)
	return nil
}

// part makes the call of one operation of the batch.
func (x *exchange) part(op *multipart.Operation) *call {
	return &call{
		exchange: x, verb: op.Method, header: op.Header, representation: x.representation,
		contentID: op.ContentID(),
		body:      func() ([]byte, error) { return op.Body, nil },
		target:    op.Target,
	}
}

// decode reads the address of the part. It ignores the host. The account must
// be the one that signed the batch.
func (c *call) decode() error {
	t := parseTarget(c.target)
	path := strings.TrimLeft(t.path, "/")
	if c.address.base != "" {
		// In path style the first segment is the account. A client that retries
		// a batch at the secondary sends the account name of the primary. A
		// client whose base URL does not name the account sends no such
		// segment.
		segment, rest, _ := strings.Cut(path, "/")
		name, _ := percent.Decode(segment, false)
		if strings.TrimSuffix(name, secondarySuffix) == c.address.account {
			path = strings.TrimLeft(rest, "/")
		}
	}
	o, err := parseOptions(t.query)
	c.options = &o
	// The OData version of a part is ignored, because clients send
	// contradictory versions there.
	c.representation = dialect{version: c.version}.responseFormat(o.format, c.header.Get("Accept"))
	if err == nil {
		err = o.implemented()
	}
	if err != nil {
		return err
	}
	c.route, err = parseRoute(c.address.account, path)
	return err
}

var errPart = table.InvalidInput.With("One of the request inputs is not valid. An operation of a changeset must be POST, PUT, MERGE, PATCH or DELETE on an entity of a table.")

var errPartQuery = table.InvalidInput.With("One of the request inputs is not valid. The query of a batch must be a GET of an entity or of the entities of a table.")

// partOperation decodes a write of a changeset.
func (c *call) partOperation() (table.Operation, error) {
	if err := c.decode(); err != nil {
		return table.Operation{}, err
	}
	var override []string
	if h, ok := c.header.(multipart.Header).Lookup("X-HTTP-Method"); ok {
		override = []string{h}
	}
	verb, err := tunnelled(c.verb, override)
	if err != nil {
		return table.Operation{}, err
	}
	c.verb = verb
	switch {
	case c.options.comp != "" || c.options.restype != "":
	case c.route.resource == entitySet && verb == "POST":
		return c.entityOperation()
	case c.route.resource == oneEntity && (verb == "PUT" || verb == "MERGE" || verb == "PATCH" || verb == "DELETE"):
		return c.entityOperation()
	case c.route.resource == root, c.route.resource == entitySet, c.route.resource == oneEntity:
		return table.Operation{}, table.MethodNotAllowed.Err()
	}
	return table.Operation{}, errPart
}

// partHeader returns the headers that most parts begin with.
func partHeader(contentID string) multipart.Header {
	h := make(multipart.Header, 0, 8)
	if contentID != "" {
		h = append(h, Field{Name: "Content-ID", Value: contentID})
	}
	return append(h,
		Field{Name: "X-Content-Type-Options", Value: "nosniff"},
		Field{Name: "Cache-Control", Value: "no-cache"})
}

// partResponse makes the response part of a successful write. Its headers have
// the order in which the service sends them.
func (c *call) partResponse(op *table.Operation, ticks edm.Ticks) multipart.Response {
	var a answer
	if op.Action == table.Insert {
		a = c.inserted(op, ticks)
		c.chainRelease(a.release)
	} else {
		a = c.written(op, ticks)
	}
	if a.status != 204 {
		return c.contentPart(a)
	}
	version := "1.0;"
	if c.prefer != noPreference {
		version = "3.0;" // Prefer belongs to OData 3
	}
	h := append(c.applied(partHeader(c.contentID)), Field{Name: "DataServiceVersion", Value: version})
	return multipart.Response{Status: a.status, Header: append(h, a.header...)}
}

// emptyPart makes the response to a changeset that has a part without a
// request.
func (x *exchange) emptyPart() multipart.Response {
	e := table.InvalidInput.With("An error occurred while processing this request. A part of the changeset holds no request.")
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

// contentPart makes the response part of an answer with a body. The headers of
// the content come first.
func (c *call) contentPart(a answer) multipart.Response {
	h := multipart.Header{
		{Name: "DataServiceVersion", Value: c.dataServiceVersion()},
		{Name: "Content-Type", Value: a.header.Get("Content-Type")},
	}
	h = c.applied(append(h, partHeader(c.contentID)...))
	for _, f := range a.header {
		if f.Name != "Content-Type" {
			h = append(h, f)
		}
	}
	return multipart.Response{Status: a.status, Header: h, Body: a.body}
}

// changeset makes the response from the parts of a changeset.
func (x *exchange) changeset(parts ...multipart.Response) {
	batch, changeset := "batchresponse_"+guid(x.NewID()), "changesetresponse_"+guid(x.NewID())
	size := 256
	for i := range parts {
		size += partSize(&parts[i])
	}
	x.multipart(batch, size, func(dst []byte) []byte {
		return multipart.AppendChangeset(dst, batch, changeset, parts)
	})
}

// partSize estimates the length of a part.
func partSize(r *multipart.Response) int { return 768 + len(r.Body) }

func (x *exchange) multipart(boundary string, size int, body func(dst []byte) []byte) {
	buf := sized(size)
	*buf = body((*buf)[:0])
	x.chainRelease(func() { keep(buf) })
	x.resp.Status = 202
	x.resp.Body = *buf
	x.resp.add("Content-Type", "multipart/mixed; boundary="+boundary)
}

// batchQuery runs the query of a batch that has no changeset.
func (x *exchange) batchQuery(ctx context.Context, c *call) error {
	boundary := "batchresponse_" + guid(x.NewID())
	respond := func(r multipart.Response) {
		x.multipart(boundary, 256+partSize(&r), func(dst []byte) []byte { return multipart.AppendQuery(dst, boundary, r) })
	}
	err := c.decode()
	if err == nil && (c.route.resource != oneEntity && c.route.resource != entitySet || c.options.comp != "" || c.options.restype != "") {
		err = errPartQuery
	}
	var a answer
	if err == nil {
		a, err = c.do(ctx)
	}
	if err != nil {
		if asError(err).Retriable() {
			return err
		}
		respond(x.failPart(c, asError(err).At(0)))
		return nil
	}
	x.resp.Table = c.route.table
	c.chainRelease(a.release)
	respond(c.contentPart(a))
	return nil
}

package observe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Protocol serves requests; *protocol.Handler implements it.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

type tracedProtocol struct {
	Protocol
	tracer trace.Tracer
}

// Protocol returns a Protocol that adds a span to each request of handler. If t is nil, it returns handler.
func (t *Traces) Protocol(handler Protocol) Protocol {
	if t == nil {
		return handler
	}
	return &tracedProtocol{handler, t}
}

// Serve implements Protocol.
func (t *tracedProtocol) Serve(ctx context.Context, req *protocol.Request) (resp protocol.Response) {
	ctx = propagation.TraceContext{}.Extract(ctx, parent{req.Header})
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	resp = t.Protocol.Serve(ctx, req)
	if !span.IsRecording() {
		return resp
	}
	shown := resp.Redacted()
	span.SetName(cmp.Or(shown.Operation, shown.Method))
	a := make([]attribute.KeyValue, 0, 12)
	text := func(name, value string) {
		if value != "" {
			a = append(a, attribute.String(name, strings.Clone(value))) // the value is copied, because the span is used after the request's memory is reused
		}
	}
	text("http.request.method", shown.Method)
	text("url.scheme", req.Scheme)
	if shown.Source.IsValid() {
		text("client.address", shown.Source.String())
	}
	for i := range protocol.Texts {
		if row := &protocol.Texts[i]; row.Span != "" {
			text(row.Span, row.Of(&shown))
		}
	}
	a = append(a, attribute.Int("http.response.status_code", resp.Status))
	if resp.Waited > 0 {
		a = append(a, attribute.Float64("edgetable.queue_wait_ms", float64(resp.Waited.Microseconds())/1000))
	}
	span.SetAttributes(a...)
	if resp.Status >= 500 {
		span.SetStatus(codes.Error, resp.Code)
	}
	return resp
}

// parent reads traceparent and tracestate. It copies the values, because they are used after the request's memory is
// reused.
type parent struct{ protocol.Fields }

func (p parent) Get(key string) string {
	return strings.Clone(p.Fields.Get(http.CanonicalHeaderKey(key)))
}
func (p parent) Set(string, string) {}
func (p parent) Keys() []string     { return nil }

type tracedStore struct {
	table.Store
	tracer trace.Tracer
	system string
}

// Unwrap returns the wrapped store, for [table.As].
func (s *tracedStore) Unwrap() table.Store { return s.Store }

// Store returns a store that adds a span to each call of store. If t is nil, it returns store.
func (t *Traces) Store(store table.Store, system string) table.Store {
	if t == nil {
		return store
	}
	return &tracedStore{store, t, system}
}

func (s *tracedStore) start(ctx context.Context, call string, key table.RecordKey) (context.Context, trace.Span) {
	ctx, span := s.tracer.Start(ctx, "store "+call, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("db.system.name", s.system), attribute.String("db.operation.name", call),
			attribute.String("db.namespace", key.Account), attribute.String("db.collection.name", key.Table))
	}
	return ctx, span
}

// end ends a span. It marks the span as failed, unless the error is an expected result of a store.
func end(span trace.Span, err error) {
	defer span.End()
	if _, refused := errors.AsType[*table.Refused](err); err == nil || refused {
		return
	}
	for _, usual := range []error{table.ErrNoRecord, table.ErrRevision, table.ErrBeingDeleted, table.ErrNoTable, table.ErrNoEntity} {
		if errors.Is(err, usual) {
			return
		}
	}
	span.SetStatus(codes.Error, err.Error())
}

// ReadRecord implements table.Store.
func (s *tracedStore) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (r table.Record, err error) {
	ctx, span := s.start(ctx, "ReadRecord", key)
	defer func() { end(span, err) }()
	return s.Store.ReadRecord(ctx, key, c)
}

// WriteRecord implements table.Store.
func (s *tracedStore) WriteRecord(ctx context.Context, r table.Record) (v table.Revision, err error) {
	ctx, span := s.start(ctx, "WriteRecord", r.Key)
	defer func() { end(span, err) }()
	return s.Store.WriteRecord(ctx, r)
}

// ListRecords implements table.Store.
func (s *tracedStore) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) (list []table.Record, err error) {
	ctx, span := s.start(ctx, "ListRecords", table.RecordKey{Account: account})
	defer func() { end(span, err) }()
	return s.Store.ListRecords(ctx, account, from, limit, c)
}

// Drop implements table.Store.
func (s *tracedStore) Drop(ctx context.Context, key table.RecordKey, r table.Revision) (err error) {
	ctx, span := s.start(ctx, "Drop", key)
	defer func() { end(span, err) }()
	return s.Store.Drop(ctx, key, r)
}

// Get implements table.Store.
func (s *tracedStore) Get(ctx context.Context, key table.RecordKey, k []byte, c table.Consistency) (row table.Row, err error) {
	ctx, span := s.start(ctx, "Get", key)
	defer func() { end(span, err) }()
	return s.Store.Get(ctx, key, k, c)
}

// Commit implements table.Store.
func (s *tracedStore) Commit(ctx context.Context, key table.RecordKey, m []table.Mutation) (t edm.Ticks, err error) {
	ctx, span := s.start(ctx, "Commit", key)
	defer func() { end(span, err) }()
	span.SetAttributes(attribute.Int("db.operation.batch.size", len(m)))
	return s.Store.Commit(ctx, key, m)
}

// Scan implements table.Store.
func (s *tracedStore) Scan(ctx context.Context, key table.RecordKey, r table.ScanRequest) (page table.Page, err error) {
	ctx, span := s.start(ctx, "Scan", key)
	defer func() { end(span, err) }()
	page, err = s.Store.Scan(ctx, key, r)
	span.SetAttributes(attribute.Int("edgetable.scanned", page.Examined), attribute.Int("db.response.returned_rows", len(page.Rows)))
	return page, err
}

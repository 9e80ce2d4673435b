package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"edgetable/adapters/observe"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/memstore"
)

// receiver is an OpenTelemetry collector. It parses each ExportTraceServiceRequest as TracesData. Both
// messages have the same encoding, so the collector does not need the gRPC service.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	busy     int // number of further requests that get 503
	requests []*tracepb.TracesData
	wrong    []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy > 0 {
		r.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(req.Body)
	var sent tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil || req.Method != "POST" || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		r.wrong = append(r.wrong, fmt.Sprint(req.Method, req.URL, req.Header, err))
	}
	r.requests = append(r.requests, &sent)
	w.Header().Set("Content-Type", "application/x-protobuf") // the body stays empty, like an ExportTraceServiceResponse without fields
}

// spans returns all received spans, ordered by their start.
func (r *receiver) spans(t *testing.T) (list []*tracepb.Span) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.wrong {
		t.Errorf("the collector got %s", text)
	}
	for _, request := range r.requests {
		for _, about := range request.ResourceSpans {
			if got := attributes(about.Resource.Attributes); got["service.name"] != "edgetable" || got["service.version"] == "" {
				t.Errorf("the spans are of %v", got)
			}
			for _, scope := range about.ScopeSpans {
				list = append(list, scope.Spans...)
			}
		}
	}
	slices.SortFunc(list, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return list
}

func attributes(list []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[a.Key] = fmt.Sprint(v.IntValue)
		}
	}
	return m
}

// TestTraces checks the parents of spans. The span of a request must have the caller's span as its
// parent. The span of a call to the store must have the span of the request as its parent.
func TestTraces(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.busy = 1 // the collector answers its first request with status 503, so the server must send these spans again
	s := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL}, "--memory")
	c := s.client(t, "")
	c.fill(t)
	const traceID, spanID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	req := c.request(t, "GET", ada, "")
	req.Header.Set("traceparent", "00-"+traceID+"-"+spanID+"-01")
	req.Header.Set("tracestate", "vendor=value")
	req.Header.Set("x-ms-client-request-id", "mine")
	answer(t, &c.Client, req, 200)
	c.do(t, "GET", "/nobody", "", 404)
	stranger := newClient(t, c.endpoint, c.account, key1)
	stranger.do(t, "GET", "/Tables", "", 403)
	s.ends(t)

	var got []string
	list := r.spans(t)
	for _, span := range list {
		a := attributes(span.Attributes)
		text := fmt.Sprintf("%s %v %s%s %s %s %s %s", span.Name, span.Kind, a["http.response.status_code"], a["db.system.name"], a["edgetable.account"]+a["db.namespace"],
			a["edgetable.table"]+a["db.collection.name"], a["error.type"], a["edgetable.refused"])
		got = append(got, strings.Join(strings.Fields(strings.ReplaceAll(text, "SPAN_KIND_", "")), " "))
		if span.EndTimeUnixNano < span.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", span.Name)
		}
	}
	want := []string{
		"CreateTable SERVER 204 devstoreaccount1 people",
		"store WriteRecord CLIENT edgetable devstoreaccount1 people",
		"store ReadRecord CLIENT edgetable devstoreaccount1", // the first request also reads the account's settings for the CORS rules; later requests use a cache
		"InsertOrReplaceEntity SERVER 204 devstoreaccount1 people",
		"store Commit CLIENT edgetable devstoreaccount1 people",
		"GetEntity SERVER 200 devstoreaccount1 people",
		"store Get CLIENT edgetable devstoreaccount1 people",
		"QueryEntities SERVER 404 devstoreaccount1 nobody TableNotFound",
		"store Scan CLIENT edgetable devstoreaccount1 nobody",
		"GET SERVER 403 devstoreaccount1 AuthenticationFailed signature",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("spans:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	asked, stored := list[5], list[6]
	if hex.EncodeToString(asked.TraceId) != traceID || hex.EncodeToString(asked.ParentSpanId) != spanID || asked.TraceState != "vendor=value" {
		t.Errorf("the request is in trace %x below span %x, state %q", asked.TraceId, asked.ParentSpanId, asked.TraceState)
	}
	if string(stored.TraceId) != string(asked.TraceId) || string(stored.ParentSpanId) != string(asked.SpanId) {
		t.Errorf("the call to the store is in trace %x below span %x", stored.TraceId, stored.ParentSpanId)
	}
	if len(list[0].ParentSpanId) != 0 || string(list[0].TraceId) == string(list[3].TraceId) {
		t.Errorf("requests without a traceparent share a trace: %v, %v", list[0], list[3])
	}
	if id := attributes(asked.Attributes)["edgetable.client_request_id"]; id != "mine" {
		t.Errorf("the client's request id is %q", id)
	}
}

// TestTraceRatio checks that the sampling ratio applies only to requests whose client makes no
// sampling decision.
func TestTraceRatio(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio") // the OpenTelemetry library reads this variable
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0")
	r := newReceiver(t)
	s := start(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": r.URL + "/v1/traces"}, "--memory")
	c := s.client(t, "")
	c.fill(t)
	for _, flags := range []string{"00", "01"} {
		req := c.request(t, "GET", ada, "")
		req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"+flags)
		answer(t, &c.Client, req, 200)
	}
	s.ends(t)
	if list := r.spans(t); len(list) != 2 || list[0].Name != "GetEntity" || list[1].Name != "store Get" {
		t.Errorf("spans: %v", list)
	}
}

// TestWrongVariables checks that a server refuses wrong values of some environment variables. These
// variables name a collector of traces, and the certificate authority that the server uses. The error
// must name the variable or the mistake.
func TestWrongVariables(t *testing.T) {
	t.Parallel()
	domain := []string{"serve", "--listen", "127.0.0.1:0", "--acme-domain", "a.example.com", "--data", filepath.Join(t.TempDir(), "new")}
	for _, tt := range []struct {
		name, value string
		args        []string
		say         string
	}{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", []string{"serve", "--memory", "--listen", "127.0.0.1:0"}, "$OTEL_EXPORTER_OTLP_ENDPOINT must be a URL"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "file:///x", []string{"serve", "--memory", "--listen", "127.0.0.1:0"}, "$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL"},
		{"EDGETABLE_ACME_DIRECTORY", "http://h/", domain, "$EDGETABLE_ACME_DIRECTORY must be a URL"},
		{"EDGETABLE_ACME_CA", "traces_test.go", domain, "no certificate in PEM"},
	} {
		if status, _, said := run(t, map[string]string{tt.name: tt.value}, tt.args...); status == 0 || !strings.Contains(said, tt.say) {
			t.Errorf("%s=%s: status %d: %s", tt.name, tt.value, status, said)
		}
	}
}

// TestCollectorFails checks that a server serves while the collector cannot be reached. The log must
// say once that traces are lost.
func TestCollectorFails(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	s := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": refuses.URL}, "--memory")
	s.client(t, "").fill(t)
	s.ends(t)
	if logs := s.logs.String(); strings.Count(logs, "traces are lost") != 1 || !strings.Contains(logs, "404") {
		t.Errorf("the log:\n%s", logs)
	}
}

// TestNoTraces checks a server without tracing. The server must wrap neither the protocol handler
// nor the store.
func TestNoTraces(t *testing.T) {
	t.Parallel()
	var none *observe.Traces
	handler, store := &protocol.Handler{}, memstore.New(stores.Now)
	if none.Protocol(handler) != handler || none.Store(store, "x") != store {
		t.Error("something does")
	}
}

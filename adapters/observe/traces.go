package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Traces creates spans and sends them to a collector.
type Traces struct {
	trace.Tracer
	provider *sdk.TracerProvider
}

// OpenTraces starts to send spans to a collector. It traces every request by default; the environment variable
// OTEL_TRACES_SAMPLER changes this.
func OpenTraces(ctx context.Context, collectorURL, version string, log *slog.Logger) (*Traces, error) {
	exporter, err := otlptrace.New(ctx, &collector{url: collectorURL, log: log})
	if err != nil {
		return nil, err
	}
	about, err := resource.Merge(resource.NewSchemaless(
		attribute.String("service.name", "edgetable"), attribute.String("service.version", version),
	), resource.Environment()) // attributes from the environment take precedence over the default attributes
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Traces{p.Tracer("edgetable"), p}, nil
}

// Close sends the remaining spans.
func (t *Traces) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // UploadTraces has already logged the failure
}

// collector sends spans over HTTP. OpenTelemetry's client would add 6 MB to the program for gRPC, which HTTP does not
// need.
type collector struct {
	url    string
	client http.Client
	log    *slog.Logger
	failed atomic.Bool
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It retries while the collector is busy. If spans are lost, it logs only the
// first failure until an upload succeeds.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // ExportTraceServiceRequest has the same encoding as TracesData
	for wait := time.Second; err == nil; wait *= 2 {
		var again bool
		if again, err = c.send(ctx, body); !again {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			err = nil
		}
	}
	switch {
	case err != nil && !c.failed.Swap(true):
		c.log.Warn("traces are lost", "endpoint", c.url, "cause", err)
	case err == nil && c.failed.Swap(false):
		c.log.Info("traces are sent again", "endpoint", c.url)
	}
	return nil
}

// send sends spans once. The first result is true if the caller should retry.
func (c *collector) send(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "edgetable")
	resp, err := c.client.Do(req)
	if err != nil {
		return ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // read the rest, so that the connection can be reused
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	default:
		if resp.StatusCode/100 == 2 {
			return false, nil
		}
	}
	return again, fmt.Errorf("the collector answers %s", strconv.Itoa(resp.StatusCode))
}

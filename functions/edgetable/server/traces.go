package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"

	"edgetable/adapters/observe"
	"edgetable/functions/edgetable/cli"
)

// Environment variables of OpenTelemetry for the URL of the collector.
const (
	otlpTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" // complete URL for traces
	otlpAll    = "OTEL_EXPORTER_OTLP_ENDPOINT"        // base URL, to which the path of each signal is appended
)

// tracesURL returns the URL to which traces are sent, or "".
func tracesURL(environment func(name string) string) (string, error) {
	own, all := environment(otlpTraces), environment(otlpAll)
	text := cmp.Or(own, all)
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		name := otlpAll
		if own != "" {
			name = otlpTraces
		}
		return "", cli.Misuse("$%s must be a URL such as http://127.0.0.1:4318, not %q", name, text)
	}
	if own == "" {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/v1/traces"
	}
	return u.String(), nil
}

// openTraces starts sending traces. It returns nil if no URL is configured.
func openTraces(ctx context.Context, environment func(name string) string, log *slog.Logger) (*observe.Traces, error) {
	u, err := tracesURL(environment)
	if u == "" || err != nil {
		return nil, err
	}
	return observe.OpenTraces(ctx, u, cli.Version(), log)
}

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

// OpenTelemetry's variables for where traces are sent.
const (
	otlpTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" // the URL as it is
	otlpAll    = "OTEL_EXPORTER_OTLP_ENDPOINT"        // of all signals, each at a path of its own
)

// tracesURL returns where traces are sent; "" if nowhere.
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
		return "", cli.Misuse("$%s is a URL such as http://127.0.0.1:4318, not %q", name, text)
	}
	if own == "" {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/v1/traces"
	}
	return u.String(), nil
}

// openTraces starts tracing. It returns nil if no traces are wanted.
func openTraces(ctx context.Context, environment func(name string) string, log *slog.Logger) (*observe.Traces, error) {
	u, err := tracesURL(environment)
	if u == "" || err != nil {
		return nil, err
	}
	return observe.OpenTraces(ctx, u, cli.Version(), log)
}

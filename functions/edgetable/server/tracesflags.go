package server

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/functions/edgetable/cli"
)

// tracesFlags say where traces are sent.
type tracesFlags struct {
	endpoint string
	ratio    float64
}

func (o *tracesFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.endpoint, "otlp-endpoint", "", "`URL` of an OpenTelemetry collector, such as http://127.0.0.1:4318, that gets traces over OTLP/HTTP; default none")
	cli.NumberFlag(f, &o.ratio, "trace-ratio", 1, 0, 1, "`part` of the requests that are traced, 0 to 1; a traceparent of the client decides for its request")
}

// url returns the URL for traces; nil if none are sent.
func (o *tracesFlags) url() (*url.URL, error) {
	if o.endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(o.endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, cli.Misuse("--otlp-endpoint is a URL such as http://127.0.0.1:4318, not %q", o.endpoint)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u, nil
}

// open starts tracing. It returns nil if no traces are wanted.
func (o *tracesFlags) open(ctx context.Context, log *slog.Logger) (*observe.Traces, error) {
	u, err := o.url()
	if u == nil || err != nil {
		return nil, err
	}
	return observe.OpenTraces(ctx, u.String(), o.ratio, cli.Version(), log)
}

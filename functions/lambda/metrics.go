package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"edgetable/adapters/transport/lambdaurl"
)

// metrics writes one line per request, which is both the log and the metrics (CloudWatch's embedded metric format). It
// has no metrics for each operation, because each metric costs money. The metrics are
//
//	Took     milliseconds
//	Refused  4xx responses
//	Busy     503 responses
//	Faults   other 5xx responses
//
// The line contains neither the target of a request nor its headers, which may contain keys, signatures and data.
type metrics struct {
	log       *slog.Logger
	table     string
	directive string // part of the field _aws that follows Timestamp
	warm      atomic.Bool
}

func newMetrics(namespace, table string, log *slog.Logger) *metrics {
	type metric struct {
		Name string
		Unit string
	}
	b, err := json.Marshal([]any{struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []metric
	}{
		namespace, [][]string{{}},
		[]metric{{"Took", "Milliseconds"}, {"Refused", "Count"}, {"Busy", "Count"}, {"Faults", "Count"}},
	}})
	if err != nil {
		panic(err) // encoding cannot fail, because the value contains only strings
	}
	return &metrics{log: log, table: table, directive: `,"CloudWatchMetrics":` + string(b) + "}"}
}

func (m *metrics) observe(ctx context.Context, o *lambdaurl.Observation) {
	r := o.Response
	aws := strconv.AppendInt([]byte(`{"Timestamp":`), time.Now().UnixMilli(), 10)
	aws = append(aws, m.directive...)
	busy, fault := r.Status == 503, r.Status >= 500 && r.Status != 503
	attrs := []slog.Attr{
		slog.Any("_aws", json.RawMessage(aws)),
		slog.Float64("Took", float64(r.Duration.Microseconds())/1000),
		slog.Int("Refused", count(r.Status/100 == 4)), slog.Int("Busy", count(busy)), slog.Int("Faults", count(fault)),
		slog.Int("status", r.Status),
		slog.String("door", o.Door),
		slog.Int("bytes", r.Sent),
	}
	for _, f := range r.AppendLog(nil) {
		attrs = append(attrs, slog.String(f.Name, f.Value))
	}
	if plan := r.Plan(); plan != "" {
		attrs = append(attrs, slog.String("plan", plan), slog.String("filter", r.Filter()), slog.Int("scanned", r.Scanned), slog.Int("returned", r.Returned))
	}
	if !m.warm.Swap(true) {
		attrs = append(attrs, slog.Bool("cold", true))
	}
	if o.Narrowed > 0 {
		attrs = append(attrs, slog.Int("narrowed", o.Narrowed))
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("invocation", lc.AwsRequestID))
	}
	level := slog.LevelInfo
	if r.Err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", r.Err.Error()), slog.String("dynamodb", m.table))
	}
	m.log.LogAttrs(ctx, level, "request", attrs...)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

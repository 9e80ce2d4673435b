package bench

import (
	"strconv"
	"time"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/load/hist"
)

// measured is the output of bench --json.
type measured struct {
	Operation         string  `json:"operation"`
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	EntitiesPerSecond float64 `json:"entitiesPerSecond"`
	Latency           latency `json:"latency"`
	Errors            uint64  `json:"errors"`
	Refused           uint64  `json:"refused"`
}

func (m *measured) table() *cli.Table {
	return &cli.Table{
		Heads: []string{"operation", ">requests/s", ">entities/s", ">p50", ">p99", ">longest", ">errors", ">refused"},
		Rows: [][]string{{
			m.Operation, cli.Commas(int64(m.RequestsPerSecond)), cli.Commas(int64(m.EntitiesPerSecond)),
			m.Latency.Median.String(), m.Latency.P99.String(), m.Latency.Max.String(), cli.Commas(int64(m.Errors)), cli.Commas(int64(m.Refused)),
		}},
	}
}

type latency struct {
	Median milliseconds `json:"medianMilliseconds"`
	P99    milliseconds `json:"p99Milliseconds"`
	Max    milliseconds `json:"maxMilliseconds"`
}

func latencyOf(h *hist.Histogram) latency {
	return latency{milliseconds(h.Quantile(0.5)), milliseconds(h.Quantile(0.99)), milliseconds(h.Max())}
}

type milliseconds time.Duration

func (d milliseconds) String() string { return cli.ShowLatency(time.Duration(d)) }

// MarshalJSON encodes the duration in milliseconds.
func (d milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d)/1e6, 'f', 3, 64), nil
}

package stores

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/postgres"
)

// onDatabase are the counters of the store on PostgreSQL.
var onDatabase = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*postgres.Metrics) float64
}{
	{"write_groups_total", "Transactions that wrote single entities.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.WriteGroups) }},
	{"grouped_writes_total", "Writes of single entities in these transactions.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Writes) }},
	{"read_groups_total", "Statements that read single entities.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.ReadGroups) }},
	{"grouped_reads_total", "Reads of single entities in these statements.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Reads) }},
	{"writes_behind_total", "Writes that were sent again, above a Timestamp or a state that another server had written.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Behind) }},
	{"unknown_outcomes_total", "Writes whose reply was lost and whose outcome could not be found out in time.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Unknown) }},
	{"replica_failures_total", "Reads that the standby did not answer, so that the primary had to.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.ReplicaFailures) }},
	{"replica_age_seconds", "How far the standby for eventual reads is behind; 0 without one.", prometheus.GaugeValue, func(m *postgres.Metrics) float64 { return observe.Seconds(m.ReplicaAge) }},
	{"purged_rows_total", "Tombstones and rows of dropped tables that were removed.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Purged) }},
	{"purges_total", "Runs that removed tombstones and dropped tables, also those that failed.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.Purges) }},
	{"purge_failures_total", "Such runs that failed.", prometheus.CounterValue, func(m *postgres.Metrics) float64 { return float64(m.PurgeFailures) }},
	{"oldest_transaction_seconds", "Age of the database's oldest transaction that the server's role may see. What it can see is not vacuumed.", prometheus.GaugeValue, func(m *postgres.Metrics) float64 { return observe.Seconds(m.Oldest) }},
	{"clock_difference_seconds", "By how much the clock of the database is ahead of this machine's. Above 10, or below -10, nothing is written.", prometheus.GaugeValue, func(m *postgres.Metrics) float64 { return observe.Seconds(m.ClockDifference) }},
}

// ofPool are values of the connections to one server.
var ofPool = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*postgres.Pool) float64
}{
	{"connections", "Open connections.", prometheus.GaugeValue, func(p *postgres.Pool) float64 { return float64(p.Open) }},
	{"connections_used", "Connections in use.", prometheus.GaugeValue, func(p *postgres.Pool) float64 { return float64(p.Used) }},
	{"connections_limit", "The most connections that may be open.", prometheus.GaugeValue, func(p *postgres.Pool) float64 { return float64(p.Limit) }},
	{"connections_made_total", "Connections that were made.", prometheus.CounterValue, func(p *postgres.Pool) float64 { return float64(p.Connected) }},
	{"connection_waits_total", "How often a connection had to be waited for.", prometheus.CounterValue, func(p *postgres.Pool) float64 { return float64(p.Waits) }},
	{"connection_wait_seconds_total", "Time spent waiting for connections.", prometheus.CounterValue, func(p *postgres.Pool) float64 { return observe.Seconds(p.Waited) }},
}

// PostgresMetrics adds the counters of the store on PostgreSQL.
func PostgresMetrics(m *observe.Metrics, metrics func() postgres.Metrics) {
	if m == nil {
		return
	}
	r := &observe.Reader{Read: func(add func(i int, value float64, labels ...string)) {
		now := metrics()
		for i := range onDatabase {
			add(i, onDatabase[i].value(&now))
		}
		for i := range ofPool {
			for j := range now.Pools {
				add(len(onDatabase)+i, ofPool[i].value(&now.Pools[j]), now.Pools[j].Name)
			}
		}
		for _, why := range slices.Sorted(maps.Keys(now.Retries)) {
			add(len(onDatabase)+len(ofPool), float64(now.Retries[why]), why)
		}
	}}
	for _, e := range onDatabase {
		r.Descriptions = append(r.Descriptions, observe.Describe("postgres_"+e.name, e.help, e.kind))
	}
	for _, e := range ofPool {
		r.Descriptions = append(r.Descriptions, observe.Describe("postgres_"+e.name, e.help, e.kind, "to"))
	}
	r.Descriptions = append(r.Descriptions, observe.Describe("postgres_retries_total",
		"What was sent again, by reason: again (not sent, or in conflict), moved (the server is no primary any more), lost (the connection broke).", prometheus.CounterValue, "reason"))
	m.MustRegister(r)
}

package stores

import (
	"edgetable/adapters/observe"
	"edgetable/adapters/store/postgres"
)

// PostgresMetrics registers the metrics of a store on PostgreSQL.
func PostgresMetrics(m *observe.Metrics, metrics func() postgres.Metrics) {
	rows := []observe.Row[postgres.Metrics]{
		observe.Counter("postgres_write_groups_total", "Transactions that wrote single entities.", func(m postgres.Metrics) float64 { return float64(m.WriteGroups) }),
		observe.Counter("postgres_grouped_writes_total", "Writes of single entities; postgres_write_groups_total counts the transactions that contained these writes.", func(m postgres.Metrics) float64 { return float64(m.Writes) }),
		observe.Counter("postgres_read_groups_total", "Statements that read single entities.", func(m postgres.Metrics) float64 { return float64(m.ReadGroups) }),
		observe.Counter("postgres_grouped_reads_total", "Reads of single entities; postgres_read_groups_total counts the statements that contained these reads.", func(m postgres.Metrics) float64 { return float64(m.Reads) }),
		observe.Counter("postgres_writes_behind_total", "Writes that were retried because another server had written a later Timestamp or another state.", func(m postgres.Metrics) float64 { return float64(m.Behind) }),
		observe.Counter("postgres_unknown_outcomes_total", "Writes whose reply was lost and whose outcome could not be determined in time.", func(m postgres.Metrics) float64 { return float64(m.Unknown) }),
		observe.Counter("postgres_replica_failures_total", "Reads that were sent to the primary because the standby did not answer.", func(m postgres.Metrics) float64 { return float64(m.ReplicaFailures) }),
		observe.Gauge("postgres_replica_age_seconds", "Lag of the standby for eventual reads; 0 without a standby.", func(m postgres.Metrics) float64 { return m.ReplicaAge.Seconds() }),
		observe.Counter("postgres_purged_rows_total", "Tombstones and rows of dropped tables that were removed.", func(m postgres.Metrics) float64 { return float64(m.Purged) }),
		observe.Counter("postgres_purges_total", "Runs of the removal of tombstones and dropped tables, including failed runs.", func(m postgres.Metrics) float64 { return float64(m.Purges) }),
		observe.Counter("postgres_purge_failures_total", "Failed runs of the removal of tombstones and dropped tables.", func(m postgres.Metrics) float64 { return float64(m.PurgeFailures) }),
		observe.Gauge("postgres_blocked_seconds", "How long a statement has been waiting for a lock of another program, which the log names.", func(m postgres.Metrics) float64 { return m.Blocked.Seconds() }),
		observe.Gauge("postgres_oldest_transaction_seconds", "Age of the database's oldest transaction that the server's role may see. Vacuum keeps all rows that this transaction can see.", func(m postgres.Metrics) float64 { return m.Oldest.Seconds() }),
		observe.Gauge("postgres_clock_difference_seconds", "Seconds by which the clock of the database is ahead of this machine's clock. Above 10, or below -10, writes are refused.", func(m postgres.Metrics) float64 { return m.ClockDifference.Seconds() }),
		observe.Counter[postgres.Metrics]("postgres_retries_total",
			"Statements that were sent again, by reason: again (not sent, or in conflict), moved (the server is no longer a primary), lost (the connection broke).", nil).WithLabel("reason", func(m postgres.Metrics, add func(float64, ...string)) {
			for why, n := range m.Retries {
				add(float64(n), why)
			}
		}),
	}
	for _, of := range ofPool {
		rows = append(rows, of.row.WithLabel("to", func(m postgres.Metrics, add func(float64, ...string)) {
			for i := range m.Pools {
				add(of.value(&m.Pools[i]), m.Pools[i].Name)
			}
		}))
	}
	observe.Watch(m, metrics, rows...)
}

// ofPool are the metrics of a connection pool. The primary and the standby have separate pools.
var ofPool = []struct {
	row   observe.Row[postgres.Metrics]
	value func(*postgres.Pool) float64
}{
	{observe.Gauge[postgres.Metrics]("postgres_connections", "Open connections.", nil), func(p *postgres.Pool) float64 { return float64(p.Open) }},
	{observe.Gauge[postgres.Metrics]("postgres_connections_used", "Connections in use.", nil), func(p *postgres.Pool) float64 { return float64(p.Used) }},
	{observe.Gauge[postgres.Metrics]("postgres_connections_limit", "Maximum number of open connections.", nil), func(p *postgres.Pool) float64 { return float64(p.Limit) }},
	{observe.Counter[postgres.Metrics]("postgres_connections_made_total", "Connections that were made.", nil), func(p *postgres.Pool) float64 { return float64(p.Connected) }},
	{observe.Counter[postgres.Metrics]("postgres_connection_waits_total", "Number of times that a request had to wait for a connection.", nil), func(p *postgres.Pool) float64 { return float64(p.Waits) }},
	{observe.Counter[postgres.Metrics]("postgres_connection_wait_seconds_total", "Time spent waiting for connections.", nil), func(p *postgres.Pool) float64 { return p.Waited.Seconds() }},
}

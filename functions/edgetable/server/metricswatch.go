package server

import (
	"strconv"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/observe"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/replicate/ship"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/changefeed"
	"edgetable/core/table"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/stores"
)

func watchQueue(m *observe.Metrics, l *admission.Limiter) {
	gauge := func(name, help string, of func(*admission.Kind) int) observe.Row[[3]admission.Kind] {
		return observe.Gauge[[3]admission.Kind](name, help, nil).WithLabel("kind", func(kinds [3]admission.Kind, add func(float64, ...string)) {
			for i := range kinds {
				add(float64(of(&kinds[i])), kinds[i].Name)
			}
		})
	}
	observe.Watch(m, l.Kinds,
		gauge("requests_in_flight", "Requests that are being served.", func(k *admission.Kind) int { return k.Running }),
		gauge("requests_queued", "Requests that wait in the queue.", func(k *admission.Kind) int { return k.Waiting }),
		gauge("requests_limit", "Maximum number of requests that are served at the same time (see --max-requests). While several accounts are active, the maximum of large requests is one for every two processors.", func(k *admission.Kind) int { return k.Slots }),
	)
}

// watchExpiry adds metrics of expiry. It does nothing if e is nil.
func watchExpiry(m *observe.Metrics, e *expiry) {
	if e != nil {
		observe.Watch(m, func() *expiry { return e },
			observe.Counter("expired_entities_total", "Expired entities that were removed.", func(e *expiry) float64 { return float64(e.removed.Load()) }),
			observe.Gauge("expire_behind_seconds", "Longest time for which an expired entity waited for its removal, in the last search for expired entities; or the time since this search began, if that time is longer.", func(e *expiry) float64 { return e.removalDelay().Seconds() }),
			observe.Gauge("expire_sweep_seconds", "Duration of the last search that looked for expired entities and removed them.", func(e *expiry) float64 { return time.Duration(e.took.Load()).Seconds() }))
	}
}

func watchFeeds(m *observe.Metrics, w *changefeed.Waiters) {
	observe.Watch(m, func() *changefeed.Waiters { return w },
		observe.Gauge("changes_waiting", "Requests that wait for changes of tables, and streams.", func(w *changefeed.Waiters) float64 { return float64(w.Count()) }),
		observe.Gauge("changes_behind_ratio", "Lag of the slowest reader of a change feed in the last minutes: the age of the oldest change that it read, divided by the time for which the table keeps changes. At 1, this reader misses changes and gets the status 410.", func(w *changefeed.Waiters) float64 { return w.Lag.Share(stores.Now()) }))
}

func watchConnections(m *observe.Metrics, s *httpserver.Server) {
	type stats = httpserver.ConnectionStats
	observe.Watch(m, s.Connections,
		observe.Gauge("connections_open", "Connections of clients that are open.", func(n stats) float64 { return float64(n.Open) }),
		observe.Counter("connections_accepted_total", "Connections of clients that were accepted.", func(n stats) float64 { return float64(n.Accepted) }),
		observe.Gauge("connections_idle", "Open connections without a request.", func(n stats) float64 { return float64(n.Idle) }),
		observe.Gauge("connections_waiting", "Open connections whose next request is not read yet, because too many requests are in progress.", func(n stats) float64 { return float64(n.Waiting) }),
		observe.Gauge("connections_limit", "Maximum number of open connections, which depends on memory and file descriptors.", func(stats) float64 { return float64(s.Bounds.Connections) }),
		observe.Counter("connections_closed_for_room_total", "Idle connections that were closed to make room for new ones.", func(n stats) float64 { return float64(n.Closed) }),
		observe.Counter("connections_refused_total", "New connections that were closed at once, because the limit was reached and no open connection was idle.", func(n stats) float64 { return float64(n.Refused) }),
		observe.Gauge("client_memory_bytes", "Memory for request bodies that are being received and large responses that are being sent.", func(stats) float64 {
			used, _ := s.Room()
			return float64(used)
		}),
		observe.Gauge("client_memory_limit_bytes", "The limit of client_memory_bytes.", func(stats) float64 { return float64(s.Bounds.Bytes) }),
	)
}

// watchCertificate adds the expiry time of the certificate, if there is one.
func watchCertificate(m *observe.Metrics, c *certificate) {
	if c == nil {
		return
	}
	m.Gauge("certificate_expiry_timestamp_seconds", "When the certificate of the server expires, as a Unix time; 0 until one is obtained.", func() float64 {
		if current := c.current.Load(); current != nil {
			return float64(current.Leaf.NotAfter.Unix())
		}
		return 0 // no certificate was obtained yet
	})
}

// watchFaults adds metrics of simulated faults, if there are any. The label is the number of a rule, because its text
// may contain account names and entity keys.
func watchFaults(m *observe.Metrics, c *chaos.Chaos) {
	if c == nil {
		return
	}
	observe.Watch(m, c.Counts, observe.Counter[[]chaos.Count]("simulated_faults_total", "Requests that a rule of --chaos affected, by the number of the rule in the list.", nil).
		WithLabel("rule", func(counts []chaos.Count, add func(float64, ...string)) {
			for i, n := range counts {
				add(float64(n.Struck), strconv.Itoa(i+1))
			}
		}))
}

// watchBackups adds metrics of backups, if the server makes backups.
func watchBackups(m *observe.Metrics, b *backup.Schedule) {
	if b == nil {
		return
	}
	observe.Watch(m, b.Status,
		observe.Gauge("backup_last_success_timestamp_seconds", "Time at which the newest complete backup began, as a Unix time; 0 if no backup is known.", func(s backup.Status) float64 { return unixTime(s.LastSuccess) }),
		observe.Counter("backups_total", "Backups that the server has made.", func(s backup.Status) float64 { return float64(s.Successes) }),
		observe.Counter("backup_failures_total", "Failed attempts to make a backup.", func(s backup.Status) float64 { return float64(s.Failures) }),
	)
}

// watchLog adds metrics of log shipping, if the server ships its log.
func watchLog(m *observe.Metrics, b *backup.Schedule) {
	if !b.ShipsLog() {
		return
	}
	observe.Watch(m, b.Shipped,
		observe.Gauge("log_behind_seconds", "Time since the last moment at which the backup location had every confirmed write (--backup-log); since the start of the server, if there was no such moment.", func(s ship.Status) float64 { return time.Since(s.CaughtUp).Seconds() }),
		observe.Gauge("log_last_shipped_timestamp_seconds", "Time at which the newest piece of the log was stored in the backup location, as a Unix time; 0 if none was stored since the start. An idle server stores no pieces.", func(s ship.Status) float64 { return unixTime(s.LastShipped) }),
		observe.Gauge("log_waiting_bytes", "Bytes of the log that are not in the backup location.", func(s ship.Status) float64 { return float64(s.Waiting) }),
		observe.Counter("log_pieces_total", "Pieces of the log that were stored in the backup location.", func(s ship.Status) float64 { return float64(s.Pieces) }),
		observe.Counter("log_failures_total", "Failed attempts to ship the log.", func(s ship.Status) float64 { return float64(s.Failures) }),
		observe.Counter("log_given_up_total", "Number of times that a part of the log was discarded before it was shipped (--backup-log-keep). The moments of this part cannot be restored.", func(s ship.Status) float64 { return float64(s.GivenUp) }),
		observe.Gauge("log_replaced", "1 if another store has taken over the backup location, so this server no longer ships its log, else 0.", func(s ship.Status) float64 { return observe.Bool(s.Replaced) }),
	)
}

func watchSecondary(m *observe.Metrics, status func() follow.Status) {
	observe.Watch(m, status,
		observe.Gauge("secondary", "1 while the server is a secondary of another server (--secondary-of) or reads a replica (--dynamodb-role), 0 when it was promoted.", func(s follow.Status) float64 { return observe.Bool(s.Follows) }),
		observe.Gauge("secondary_behind_seconds", "Time since the last moment at which the secondary had applied everything in the backup location. For a replica on DynamoDB, the age of LastSyncTime.", func(s follow.Status) float64 { return s.Behind.Seconds() }),
		observe.Gauge("secondary_last_sync_timestamp_seconds", "LastSyncTime of the secondary, as a Unix time: the secondary has every write that returned before this time; 0 if unknown. While the primary is idle, only backups advance it.", func(s follow.Status) float64 {
			if s.LastSync.IsZero() {
				return 0
			}
			return float64(s.LastSync.UnixMilli()) / 1000
		}),
		observe.Counter("secondary_commits_total", "Commits that the secondary has applied.", func(s follow.Status) float64 { return float64(s.Commits) }),
	)
}

// replicaStatus returns a function that reports the state of a replica as the status of a secondary.
func replicaStatus(r table.Replicated) func() follow.Status {
	began := time.Now()
	return func() follow.Status {
		s := follow.Status{Follows: true, Behind: time.Since(began)}
		if at := r.Replication().LastSync; at != 0 {
			s.LastSync = at.Time()
			s.Behind = time.Since(s.LastSync)
		}
		return s
	}
}

// unixTime returns t in Unix seconds, or 0 for the zero time.
func unixTime(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

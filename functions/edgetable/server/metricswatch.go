package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"edgetable/adapters/guard/admission"
	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/observe"
	"edgetable/adapters/transport/httpserver"
	"edgetable/functions/edgetable/backup"
)

// watchQueue adds the requests that are served now, and those that wait.
func watchQueue(m *observe.Metrics, l *admission.Limiter) {
	m.MustRegister(&observe.Reader{
		Descriptions: observe.Descriptions{
			observe.Describe("requests_in_flight", "Requests that are being served.", prometheus.GaugeValue, "kind"),
			observe.Describe("requests_queued", "Requests that wait for their turn.", prometheus.GaugeValue, "kind"),
			observe.Describe("requests_limit", "Requests that are served at once, at most (--concurrent, --reads, and for large ones one for two processors while several accounts are active).", prometheus.GaugeValue, "kind"),
		},
		Read: func(add func(i int, value float64, labels ...string)) {
			for _, k := range l.Kinds() {
				add(0, float64(k.Running), k.Name)
				add(1, float64(k.Waiting), k.Name)
				add(2, float64(k.Places), k.Name)
			}
		},
	})
}

// watchConnections adds the connections of the server.
func watchConnections(m *observe.Metrics, s *httpserver.Server) {
	m.MustRegister(&observe.Reader{
		Descriptions: observe.Descriptions{
			observe.Describe("connections_open", "Connections of clients that are open.", prometheus.GaugeValue),
			observe.Describe("connections_accepted_total", "Connections of clients that were accepted.", prometheus.CounterValue),
			observe.Describe("connections_idle", "Open connections without a request.", prometheus.GaugeValue),
			observe.Describe("connections_waiting", "Open connections whose request is not read yet, for too many are under way.", prometheus.GaugeValue),
			observe.Describe("connections_limit", "Connections that may be open (--max-connections).", prometheus.GaugeValue),
			observe.Describe("connections_closed_for_room_total", "Idle connections that were closed to make room for new ones.", prometheus.CounterValue),
			observe.Describe("connections_refused_total", "Connections that were closed at once: there was no room, and none was idle.", prometheus.CounterValue),
			observe.Describe("client_memory_bytes", "Memory of bodies that arrive and of large answers that are being sent.", prometheus.GaugeValue),
			observe.Describe("client_memory_limit_bytes", "What client_memory_bytes may be.", prometheus.GaugeValue),
		},
		Read: func(add func(i int, value float64, labels ...string)) {
			n := s.Connections()
			used, _ := s.Room()
			for i, v := range []float64{
				float64(n.Open), float64(n.Accepted), float64(n.Idle), float64(n.Waiting), float64(s.Bounds.Connections),
				float64(n.Closed), float64(n.Refused), float64(used), float64(s.Bounds.Bytes),
			} {
				add(i, v)
			}
		},
	})
}

// watchCertificate adds the end of the certificate, if there is one.
func watchCertificate(m *observe.Metrics, c *certificate) {
	if c == nil {
		return
	}
	m.Gauge("certificate_expiry_timestamp_seconds", "When the certificate of the server expires, as a Unix time; 0 until one is obtained.", func() float64 {
		if current := c.current.Load(); current != nil {
			return float64(current.Leaf.NotAfter.Unix())
		}
		return 0 // none has been obtained yet
	})
}

// watchFaults adds the simulated faults, if there are any. Rules may name accounts
// and keys, so the label is the place of a rule.
func watchFaults(m *observe.Metrics, c *chaos.Chaos) {
	if c == nil {
		return
	}
	m.MustRegister(&observe.Reader{
		Descriptions: observe.Descriptions{observe.Describe("simulated_faults_total", "Requests that a rule of --chaos struck, by its place in the list.", prometheus.CounterValue, "rule")},
		Read: func(add func(i int, value float64, labels ...string)) {
			for i, n := range c.Counts() {
				add(0, float64(n.Struck), strconv.Itoa(i+1))
			}
		},
	})
}

// watchBackups adds the backups that the server makes, if it makes any.
func watchBackups(m *observe.Metrics, b *backup.Schedule) {
	if b == nil {
		return
	}
	m.MustRegister(&observe.Reader{
		Descriptions: observe.Descriptions{
			observe.Describe("backup_last_success_timestamp_seconds", "When the newest complete backup began, as a Unix time; 0: none is known.", prometheus.GaugeValue),
			observe.Describe("backups_total", "Backups that the server has made.", prometheus.CounterValue),
			observe.Describe("backup_failures_total", "Attempts at a backup that failed.", prometheus.CounterValue),
		},
		Read: func(add func(i int, value float64, labels ...string)) {
			s := b.Status()
			if s.LastSuccess.IsZero() {
				add(0, 0)
			} else {
				add(0, float64(s.LastSuccess.Unix()))
			}
			add(1, float64(s.Successes))
			add(2, float64(s.Failures))
		},
	})
}

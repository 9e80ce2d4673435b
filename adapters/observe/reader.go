package observe

import "github.com/prometheus/client_golang/prometheus"

// Row describes a metric whose value is computed from a T; see [Watch].
type Row[T any] struct {
	name, help string
	labels     []string
	kind       prometheus.ValueType
	tell       func(of T, add func(value float64, labels ...string))
}

// Gauge returns a Row for a value that can increase and decrease.
func Gauge[T any](name, help string, value func(T) float64) Row[T] {
	return Row[T]{name, help, nil, prometheus.GaugeValue, single(value)}
}

// Counter returns a Row for a value that only increases.
func Counter[T any](name, help string, value func(T) float64) Row[T] {
	return Row[T]{name, help, nil, prometheus.CounterValue, single(value)}
}

func single[T any](value func(T) float64) func(T, func(float64, ...string)) {
	return func(of T, add func(float64, ...string)) { add(value(of)) }
}

// WithLabel returns a copy of the row with a label. The metric then has one value for each value of the label.
func (r Row[T]) WithLabel(label string, tell func(of T, add func(value float64, labels ...string))) Row[T] {
	r.labels, r.tell = []string{label}, tell
	return r
}

// Watch registers metrics. At each scrape, it calls snapshot once and computes all metrics from the result. If m is
// nil, Watch does nothing.
func Watch[T any](m *Metrics, snapshot func() T, rows ...Row[T]) {
	if m == nil {
		return
	}
	w := &watched[T]{read: snapshot, rows: rows}
	for _, r := range rows {
		w.descriptions = append(w.descriptions, prometheus.NewDesc(Namespace+"_"+r.name, r.help, r.labels, nil))
	}
	m.MustRegister(w)
}

type watched[T any] struct {
	read         func() T
	rows         []Row[T]
	descriptions []*prometheus.Desc
}

// Describe implements prometheus.Collector.
func (w *watched[T]) Describe(to chan<- *prometheus.Desc) {
	for _, d := range w.descriptions {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (w *watched[T]) Collect(to chan<- prometheus.Metric) {
	now := w.read()
	for i, r := range w.rows {
		r.tell(now, func(value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(w.descriptions[i], r.kind, value, labels...)
		})
	}
}

package observe

import "github.com/prometheus/client_golang/prometheus"

// Reader is a collector of values that are read together at each scrape.
type Reader struct {
	Descriptions
	Read func(add func(i int, value float64, labels ...string))
}

type Descriptions []description

type description struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

func Describe(name, help string, kind prometheus.ValueType, labels ...string) description {
	return description{prometheus.NewDesc(Namespace+"_"+name, help, labels, nil), kind}
}

// Describe implements prometheus.Collector.
func (d Descriptions) Describe(to chan<- *prometheus.Desc) {
	for _, one := range d {
		to <- one.Desc
	}
}

// Collect implements prometheus.Collector.
func (r *Reader) Collect(to chan<- prometheus.Metric) {
	r.Read(func(i int, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(r.Descriptions[i].Desc, r.Descriptions[i].kind, value, labels...)
	})
}

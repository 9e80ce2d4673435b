package main

import "github.com/prometheus/client_golang/prometheus"

// reader is a collector of values that are read together at each scrape.
type reader struct {
	descriptions
	read func(add func(i int, value float64, labels ...string))
}

type descriptions []description

type description struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

func describe(name, help string, kind prometheus.ValueType, labels ...string) description {
	return description{prometheus.NewDesc(namespace+"_"+name, help, labels, nil), kind}
}

// Describe implements prometheus.Collector.
func (d descriptions) Describe(to chan<- *prometheus.Desc) {
	for _, one := range d {
		to <- one.Desc
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(to chan<- prometheus.Metric) {
	r.read(func(i int, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(r.descriptions[i].Desc, r.descriptions[i].kind, value, labels...)
	})
}

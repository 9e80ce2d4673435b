package settings

import (
	"math"

	"edgetable/core/table"
)

// maxDays is the maximum retention in days.
const maxDays = 365

// Update applies a document of PUT /?restype=service&comp=properties to p. Missing parts remain unchanged, but at least
// one must be present.
//
// The error is a *table.Error with InvalidXmlDocument or InvalidXmlNodeValue. p is then unchanged.
func (p *Properties) Update(body []byte) error {
	next := *p
	err := parse(body, serviceRoot, func(d *document) error {
		parts, hours := 0, 0
		hour := func() error {
			if hours++; hours > 1 {
				return d.refuse("Metrics and HourMetrics are the same setting; send only one of them")
			}
			return d.metrics(&next.HourMetrics)
		}
		part := func(name string, read func() error) child {
			return child{name: name, read: func() error { parts++; return read() }}
		}
		foreign := func(name, service string) child {
			return part(name, func() error { return d.refuse("this is for " + service + "; tables have none") })
		}
		err := d.children(
			part("Logging", func() error { return d.logging(&next.Logging) }),
			part("HourMetrics", hour),
			part("Metrics", hour),
			part("MinuteMetrics", func() error { return d.metrics(&next.MinuteMetrics) }),
			part("Cors", func() error { return d.cors(&next.CORS) }),
			foreign("DefaultServiceVersion", "blobs"),
			foreign("DeleteRetentionPolicy", "blobs"),
			foreign("StaticWebsite", "blobs"),
			foreign("ProtocolSettings", "files"),
		)
		if err == nil && parts == 0 {
			return d.refuse("at least one of Logging, HourMetrics, MinuteMetrics and Cors is required")
		}
		return err
	})
	if err != nil {
		return err
	}
	*p = next
	return nil
}

func (d *document) logging(dst *Logging) error {
	return d.children(
		child{name: "Version", need: required, read: d.version},
		child{name: "Read", need: required, read: d.flag(&dst.Read)},
		child{name: "Write", need: required, read: d.flag(&dst.Write)},
		child{name: "Delete", need: required, read: d.flag(&dst.Delete)},
		child{name: "RetentionPolicy", need: required, read: d.retention(&dst.RetentionDays)},
	)
}

// metrics reads the settings of metrics. IncludeAPIs is ignored if metrics are disabled, because the service then does
// not return it.
func (d *document) metrics(dst *Metrics) error {
	var m Metrics
	includes := false
	err := d.children(
		child{name: "Version", need: required, read: d.version},
		child{name: "Enabled", need: required, read: d.flag(&m.Enabled)},
		child{name: "IncludeAPIs", read: func() error {
			includes = true
			return d.flag(&m.IncludeAPIs)()
		}},
		child{name: "RetentionPolicy", need: required, read: d.retention(&m.RetentionDays)},
	)
	switch {
	case err != nil:
		return err
	case m.Enabled && !includes:
		return d.refuse("<IncludeAPIs> is missing; metrics cannot be enabled without it")
	case !m.Enabled:
		m.IncludeAPIs = false
	}
	*dst = m
	return nil
}

// retention returns a function that reads a RetentionPolicy. If the policy is disabled, Days is ignored but must be
// valid.
func (d *document) retention(dst *int32) func() error {
	return func() error {
		var enabled bool
		*dst = 0
		err := d.children(
			child{name: "Enabled", need: required, read: d.flag(&enabled)},
			child{name: "Days", read: d.number(dst, 1, maxDays)},
		)
		switch {
		case err != nil:
			return err
		case enabled && *dst == 0:
			return d.refuse("<Days> is missing; retention cannot be enabled without it")
		case !enabled:
			*dst = 0
		}
		return nil
	}
}

func (d *document) cors(dst *CORS) error {
	*dst = nil
	size := 0
	return d.children(child{name: "CorsRule", maxCount: maxRules, read: func() error {
		r, err := d.rule()
		if err != nil {
			return err
		}
		if size += r.size(); size > maxCORS {
			return d.refuse("all rules together have more than 2048 bytes")
		}
		*dst = append(*dst, r)
		return nil
	}})
}

func (d *document) rule() (r Rule, err error) {
	checked := func(dst *string, tooMany, problem func(list string) string) func() error {
		return func() error {
			if err := d.text(dst)(); err != nil {
				return err
			}
			if what := tooMany(*dst); what != "" {
				return d.refuseAs(table.InvalidXMLNodeValue, what)
			}
			if what := problem(*dst); what != "" {
				return d.refuse(what)
			}
			return nil
		}
	}
	err = d.children(
		child{name: "AllowedMethods", need: required, read: checked(&r.AllowedMethods, noLimit, methodsProblem)},
		child{name: "AllowedOrigins", need: required, read: checked(&r.AllowedOrigins, tooManyOrigins, originsProblem)},
		child{name: "AllowedHeaders", need: required, read: checked(&r.AllowedHeaders, tooManyHeaders, headersProblem)},
		child{name: "ExposedHeaders", need: required, read: checked(&r.ExposedHeaders, tooManyHeaders, headersProblem)},
		child{name: "MaxAgeInSeconds", need: required, read: d.number(&r.MaxAge, 0, math.MaxInt32)},
	)
	r.AllowedHeaders, r.ExposedHeaders = headersOrder(r.AllowedHeaders), headersOrder(r.ExposedHeaders)
	return r, err
}

package settings

import (
	"strconv"

	"edgetable/core/xml"
)

// Properties holds the service properties of one account.
type Properties struct {
	Logging       Logging
	HourMetrics   Metrics // documents before version 2013-08-15 call this element Metrics
	MinuteMetrics Metrics
	CORS          CORS
}

// Logging selects which requests the service should log.
type Logging struct {
	Read, Write, Delete bool
	// RetentionDays is the retention of the logs in days, 1 to 365; 0 means no limit.
	RetentionDays int32
}

// Metrics selects which request statistics the service should collect.
type Metrics struct {
	Enabled bool
	// IncludeAPIs requests separate statistics for each operation. It can be set only if Enabled is set.
	IncludeAPIs bool
	// RetentionDays is the retention of the statistics in days, 1 to 365; 0 means no limit.
	RetentionDays int32
}

// Defaults returns the properties of an account that was never configured: everything is disabled, and there are no
// CORS rules.
func Defaults() Properties { return Properties{} }

// Append appends the document of GET /?restype=service&comp=properties, which is also the stored form. If legacy is
// set, the document has the form before version 2013-08-15.
func (p *Properties) Append(dst []byte, legacy bool) []byte {
	dst = append(dst, xml.Header+"<StorageServiceProperties><Logging><Version>1.0</Version>"...)
	dst = appendFlag(dst, "Read", p.Logging.Read)
	dst = appendFlag(dst, "Write", p.Logging.Write)
	dst = appendFlag(dst, "Delete", p.Logging.Delete)
	dst = appendRetention(dst, p.Logging.RetentionDays)
	dst = append(dst, "</Logging>"...)
	if legacy {
		dst = p.HourMetrics.append(dst, "Metrics")
	} else {
		dst = p.HourMetrics.append(dst, "HourMetrics")
		dst = p.MinuteMetrics.append(dst, "MinuteMetrics")
		dst = p.CORS.append(dst)
	}
	return append(dst, "</StorageServiceProperties>"...)
}

func (m *Metrics) append(dst []byte, name string) []byte {
	dst = append(appendStart(dst, name), "<Version>1.0</Version>"...)
	dst = appendFlag(dst, "Enabled", m.Enabled)
	if m.Enabled {
		dst = appendFlag(dst, "IncludeAPIs", m.IncludeAPIs)
	}
	return appendEnd(appendRetention(dst, m.RetentionDays), name)
}

func (c CORS) append(dst []byte) []byte {
	if len(c) == 0 {
		return append(dst, "<Cors />"...)
	}
	dst = append(dst, "<Cors>"...)
	for i := range c {
		r := &c[i]
		dst = append(dst, "<CorsRule>"...)
		dst = appendText(dst, "AllowedMethods", r.AllowedMethods)
		dst = appendText(dst, "AllowedOrigins", r.AllowedOrigins)
		dst = appendHeaders(dst, "AllowedHeaders", r.AllowedHeaders)
		dst = appendHeaders(dst, "ExposedHeaders", r.ExposedHeaders)
		dst = appendElement(dst, "MaxAgeInSeconds", strconv.Itoa(int(r.MaxAge)))
		dst = append(dst, "</CorsRule>"...)
	}
	return append(dst, "</Cors>"...)
}

func appendHeaders(dst []byte, name, list string) []byte {
	if list == "" {
		return append(append(append(dst, '<'), name...), " />"...)
	}
	return appendText(dst, name, list)
}

func appendFlag(dst []byte, name string, on bool) []byte {
	return appendElement(dst, name, strconv.FormatBool(on))
}

func appendRetention(dst []byte, days int32) []byte {
	dst = append(dst, "<RetentionPolicy>"...)
	dst = appendFlag(dst, "Enabled", days > 0)
	if days > 0 {
		dst = appendElement(dst, "Days", strconv.Itoa(int(days)))
	}
	return append(dst, "</RetentionPolicy>"...)
}

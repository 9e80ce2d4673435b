package protocol

import (
	"io"

	"edgetable/core/payload"
	"edgetable/core/table"
)

// Route exports route for tests.
type Route struct {
	Resource                    string
	Table, PartitionKey, RowKey string
}

var resourceNames = [...]string{"root", "tables", "table", "entities", "entity", "batch", "metadata", "count"}

// ParseRoute exports parseRoute.
func ParseRoute(raw string) (Route, error) {
	r, err := parseRoute("acct", raw, false)
	if err != nil {
		return Route{}, err
	}
	return Route{resourceNames[r.resource], r.table, r.partitionKey, r.rowKey}, nil
}

// Options exports the options of a query string for tests. An absent option has the value "-".
type Options struct{ Filter, Top, Select, Format, Comp, Restype, APIVersion string }

// ParseOptions exports parseOptions.
func ParseOptions(raw string) (Options, error) {
	o, err := parseOptions(raw)
	if err == nil {
		err = o.checkImplemented(entitySet, false)
	}
	show := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	return Options{show(o.filter), show(o.top), show(o.selectList), show(o.format), o.comp, o.restype, o.apiVersion}, err
}

// ResponseFormat exports responseFormat.
func ResponseFormat(version string, odata float64, format *string, accept string) (payload.Format, error) {
	r := dialect{version, odata}.responseFormat(format, accept)
	return r.format, r.formatErr
}

// RequestFormat exports requestFormat.
func RequestFormat(version, contentType string) (payload.Format, error) {
	return dialect{version: version}.requestFormat(contentType)
}

// ParsePreference exports parsePreference, but returns the preference as text.
func ParsePreference(s string) string { return parsePreference(s).String() }

// Versions exports checkVersion and odataVersion as one function.
func Versions(version string, h Header) (float64, error) {
	if _, err := checkVersion(version); err != nil {
		return 0, err
	}
	return odataVersion(h)
}

// ReadAll exports readAll.
func ReadAll(b []byte, r io.Reader, length int64) ([]byte, error) { return readAll(b, r, length) }

// Echoable exports echoable.
func Echoable(id string) bool { return echoable(id) }

// AsError exports asError.
func AsError(err error) *table.Error { return asError(err) }

package protocol

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// options is the query string of a request, decoded. An option is nil if it is
// absent, so that an empty one can be told from it.
type options struct {
	filter, top, selectList, format *string
	nextPartition, nextRow          *string
	nextTable                       *string
	timeout                         int // seconds; 0 if absent
	comp, restype                   string
	apiVersion                      string
}

// parseOptions reads a raw query string. Unknown names are ignored, except
// options of OData that the service does not implement.
func parseOptions(raw string) (options, error) {
	var o options
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, ok1 := percent.Decode(rawName, true)
		value, ok2 := percent.Decode(rawValue, true)
		if !ok1 || !ok2 || !utf8.ValidString(value) {
			return o, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. A percent sign must be followed by two hexadecimal digits, and all must be UTF-8.")
		}
		switch name {
		case "$filter":
			o.filter = &value
		case "$top":
			o.top = &value
		case "$select":
			o.selectList = &value
		case "$format":
			o.format = &value
		case "NextPartitionKey":
			o.nextPartition = &value
		case "NextRowKey":
			o.nextRow = &value
		case "NextTableName":
			o.nextTable = &value
		default:
			if strings.HasPrefix(name, "$") {
				return o, table.NotImplemented.With("The requested operation is not implemented on the specified resource. The query option " + strconv.Quote(name) + " is not supported; $filter, $select and $top are.")
			}
			switch strings.ToLower(name) {
			case "timeout":
				n, err := strconv.Atoi(value)
				if err != nil || n < 0 {
					return o, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. timeout must be a whole number of seconds.")
				}
				o.timeout = n
			case "comp":
				o.comp = value
			case "restype":
				o.restype = value
			case "api-version":
				o.apiVersion = value
			}
		}
	}
	return o, nil
}

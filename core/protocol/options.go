package protocol

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// orderHeader is the request header that sets the order of a query, as $orderby does if [Handler].Extensions
// is set. Azure supports neither of them. The response repeats the header, to show that the server supports
// it.
const orderHeader = "x-edgetable-orderby"

// options holds the decoded options of a query string. An option that is absent is nil; an empty one is not
// nil.
type options struct {
	filter, top, selectList, format *string
	orderBy                         *string
	nextPartition, nextRow          *string
	nextTable, time                 *string
	timeout                         int // in seconds; 0 if absent
	comp, restype                   string
	apiVersion                      string
	foreign                         string // an OData option that the service does not implement
}

// parseOptions parses a raw query string to its end, even after an error, and returns the first error. It
// ignores unknown names. The option comp must not occur twice: the signature covers only one comp, and the
// server must use the same one.
func parseOptions(raw string) (o options, first error) {
	fail := func(detail string) {
		if first == nil {
			first = table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. " + detail)
		}
	}
	operations := 0
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
			fail("A percent sign must be followed by two hexadecimal digits, and the decoded text must be UTF-8.")
			continue
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
		case "$orderby":
			o.orderBy = &value
		case "NextPartitionKey":
			o.nextPartition = &value
		case "NextRowKey":
			o.nextRow = &value
		case "NextTableName":
			o.nextTable = &value
		case "time":
			o.time = &value
		default:
			if strings.HasPrefix(name, "$") {
				o.foreign = name
				continue
			}
			switch strings.ToLower(name) {
			case "timeout":
				n, err := strconv.Atoi(value)
				if err != nil || n < 0 {
					fail("timeout must be a whole number of seconds.")
				}
				o.timeout = n
			case "comp":
				if operations++; operations > 1 {
					fail("comp occurs more than once.")
				}
				o.comp = value
			case "restype":
				o.restype = value
			case "api-version":
				o.apiVersion = value
			}
		}
	}
	return o, first
}

// checkImplemented returns an error if the query has an option that the service does not implement. It
// accepts $orderby if the server has extensions and the resource has an order.
func (o *options) checkImplemented(r resource, extensions bool) error {
	name, hint := o.foreign, ""
	if name == "" && o.orderBy != nil && !(extensions && (r == entitySet || r == entityCount)) {
		if name = "$orderby"; !extensions {
			hint = " The header " + orderHeader + " orders entities by their keys, and so does $orderby on a server with --extensions (EDGETABLE_EXTENSIONS=true)."
		}
	}
	if name == "" {
		return nil
	}
	return table.NotImplemented.With("The requested operation is not implemented on the specified resource. The query option " + strconv.Quote(name) + " is not supported; the supported options are $filter, $select and $top." + hint)
}

// plain reports whether the query has comp or restype. If so, the errors of this request are plain XML.
func (o *options) plain() bool { return o.comp != "" || o.restype != "" }

// selectResource returns the resource that the path, comp and restype identify together.
func (o *options) selectResource(r resource) (resource, error) {
	switch {
	case r == entitySet && o.restype == "" && o.comp == "acl":
		return tableACL, nil
	case r == entitySet && o.restype == "" && o.comp == "options":
		return tableOptions, nil
	case r == entitySet && o.restype == "" && o.comp == "changes":
		return tableChanges, nil
	case r == entitySet && o.restype == "" && o.comp == "traffic":
		return tableTraffic, nil
	case r == entitySet && o.restype == "" && o.comp == "restore":
		return tableRestore, nil
	case r != root || o.restype != "service":
	case o.comp == "properties":
		return serviceProperties, nil
	case o.comp == "stats":
		return serviceStats, nil
	case o.comp == "userdelegationkey":
		return delegationKey, nil
	}
	return r, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The supported requests are table?comp=acl, ?restype=service&comp=properties, ?restype=service&comp=stats and ?restype=service&comp=userdelegationkey.")
}

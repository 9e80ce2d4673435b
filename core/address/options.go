package address

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// OrderHeader is the request header that sets the order of a query, like $orderby. Azure supports neither. The response
// repeats the header to show that the server supports it.
const OrderHeader = "x-edgetable-orderby"

// Options holds the decoded options of a query string. A pointer is nil if the option is absent, but not if it is
// empty.
type Options struct {
	Filter, Top, Select, Format *string
	OrderBy                     *string
	NextPartition, NextRow      *string
	NextTable, Time             *string
	Timeout                     int // value of the option timeout in seconds, or 0 without this option
	Comp, Restype               string
	APIVersion                  string
	foreign                     string // name of an OData option that is not implemented
}

// ParseOptions parses a raw query string and returns the first error. It ignores unknown names. The option comp must
// not occur twice, because the signature covers only one comp.
func ParseOptions(raw string) (o Options, first error) {
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
			o.Filter = &value
		case "$top":
			o.Top = &value
		case "$select":
			o.Select = &value
		case "$format":
			o.Format = &value
		case "$orderby":
			o.OrderBy = &value
		case "NextPartitionKey":
			o.NextPartition = &value
		case "NextRowKey":
			o.NextRow = &value
		case "NextTableName":
			o.NextTable = &value
		case "time":
			o.Time = &value
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
				o.Timeout = n
			case "comp":
				if operations++; operations > 1 {
					fail("comp occurs more than once.")
				}
				o.Comp = value
			case "restype":
				o.Restype = value
			case "api-version":
				o.APIVersion = value
			}
		}
	}
	return o, first
}

// CheckImplemented returns an error if the query has an option that is not implemented. $orderby is implemented if
// extensions is set and r has an order.
func (o *Options) CheckImplemented(r Resource, extensions bool) error {
	name, hint := o.foreign, ""
	if name == "" && o.OrderBy != nil && !(extensions && (r == EntitySet || r == EntityCount)) {
		if name = "$orderby"; !extensions {
			hint = " The header " + OrderHeader + " orders entities by their keys, and so does $orderby on a server with --extensions (EDGETABLE_EXTENSIONS=true)."
		}
	}
	if name == "" {
		return nil
	}
	return table.NotImplemented.With("The requested operation is not implemented on the specified resource. The query option " + strconv.Quote(name) + " is not supported; the supported options are $filter, $select and $top." + hint)
}

// Plain reports whether the query has comp or restype. The errors of such a request are plain XML.
func (o *Options) Plain() bool { return o.Comp != "" || o.Restype != "" }

// SelectResource returns the resource that the path, comp and restype together identify.
func (o *Options) SelectResource(r Resource) (Resource, error) {
	switch {
	case r == EntitySet && o.Restype == "" && o.Comp == "acl":
		return TableACL, nil
	case r == EntitySet && o.Restype == "" && o.Comp == "options":
		return TableOptions, nil
	case r == EntitySet && o.Restype == "" && o.Comp == "changes":
		return TableChanges, nil
	case r == EntitySet && o.Restype == "" && o.Comp == "traffic":
		return TableTraffic, nil
	case r == EntitySet && o.Restype == "" && o.Comp == "restore":
		return TableRestore, nil
	case r != Root || o.Restype != "service":
	case o.Comp == "properties":
		return ServiceProperties, nil
	case o.Comp == "stats":
		return ServiceStats, nil
	case o.Comp == "userdelegationkey":
		return DelegationKey, nil
	}
	return r, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The supported requests are table?comp=acl, ?restype=service&comp=properties, ?restype=service&comp=stats and ?restype=service&comp=userdelegationkey.")
}

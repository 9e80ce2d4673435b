package protocol

import (
	"strings"

	"edgetable/core/key"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// resource is the kind of object that a path addresses.
type resource uint8

const (
	root      resource = iota // /
	tableSet                  // /Tables
	oneTable                  // /Tables('name')
	entitySet                 // /name or /name()
	oneEntity                 // /name(PartitionKey='p',RowKey='r')
	batch                     // /$batch
	metadata                  // /$metadata

	// The query option comp selects these. Bodies and errors are plain XML for
	// every Accept.
	tableACL          // /name?comp=acl
	tableTraffic      // /name?comp=traffic
	tableRestore      // /name?comp=restore
	serviceProperties // /?restype=service&comp=properties
	serviceStats      // /?restype=service&comp=stats
	delegationKey     // /?restype=service&comp=userdelegationkey
)

// entities reports whether the resource is one entity or the entities of a table.
func (r resource) entities() bool { return r == entitySet || r == oneEntity }

// route is a resource with its decoded names.
type route struct {
	resource     resource
	table        string
	partitionKey string
	rowKey       string
	nested       bool  // another segment follows the name of the table
	misbuilt     error // the keys behind that segment, for which the table is looked up first
}

// errQuerySyntax is for parentheses that cannot be read, and for keys with a slash or a backslash.
var errQuerySyntax = table.InvalidInput.With("Bad Request - Error in query syntax. Address an entity as table(PartitionKey='…',RowKey='…'). A key has no slash and no backslash; write ' in it as ''.")

// errKeyCount makes the error for a resource with a wrong number of keys.
func errKeyCount(account, resource string) error {
	if isTables(resource) {
		resource = "Tables"
	}
	return table.InvalidInput.With("The number of keys specified in the URI does not match number of key properties for the resource '" +
		account + "." + resource + "'. Address an entity as table(PartitionKey='…',RowKey='…').")
}

// parseRoute parses the raw path after the account. It decodes the path once,
// because a key may contain a percent sign.
func parseRoute(account, raw string) (route, error) {
	path, ok := percent.Decode(raw, false)
	if !ok {
		return route{}, table.InvalidURI.With("The requested URI does not represent any resource on the server. It has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25.")
	}
	name, predicate, hasPredicate := strings.Cut(path, "(")
	if first, rest, nested := strings.Cut(name, "/"); nested {
		return nestedRoute(account, first, rest, predicate, hasPredicate)
	}
	if !hasPredicate {
		return plainRoute(name), nil
	}
	predicate, ok = strings.CutSuffix(predicate, ")")
	if !ok {
		return route{}, errQuerySyntax
	}
	if strings.TrimSpace(predicate) == "" {
		return plainRoute(name), nil
	}
	keys, ok := parsePredicate(predicate)
	if !ok {
		return route{}, errQuerySyntax
	}
	if isTables(name) {
		if keys.count != 1 || !keys.bare {
			return route{}, errKeyCount(account, name)
		}
		return route{resource: oneTable, table: keys.partition}, nil
	}
	if keys.count != 2 || keys.bare {
		return route{}, errKeyCount(account, name)
	}
	for _, k := range [...]string{keys.partition, keys.row} {
		if err := checkURLKey(k); err != nil {
			return route{}, err
		}
	}
	return route{resource: oneEntity, table: name, partitionKey: keys.partition, rowKey: keys.row}, nil
}

func plainRoute(name string) route {
	switch {
	case name == "":
		return route{resource: root}
	case name == "$batch":
		return route{resource: batch}
	case name == "$metadata":
		return route{resource: metadata}
	case isTables(name):
		return route{resource: tableSet}
	}
	return route{resource: entitySet, table: name}
}

// nestedRoute routes a path of several segments. Clients whose base URL
// includes a table send such paths and expect the service's behaviour: the path
// addresses the table in the first segment, and keys in it are wrong if that
// table exists. Any other slash, escaped or not, is an invalid character in a
// table name.
func nestedRoute(account, first, rest, predicate string, hasPredicate bool) (route, error) {
	switch {
	case rest != "" && !isTables(rest) && rest != "$batch":
		return route{}, table.InvalidResourceName.Err()
	case hasPredicate && strings.TrimSpace(predicate) != ")" && isTables(rest) && !isTables(first):
		return route{resource: oneEntity, table: first, nested: true, misbuilt: errKeyCount(account, first)}, nil
	case hasPredicate && strings.TrimSpace(predicate) != ")":
		return route{}, errKeyCount(account, first)
	}
	r := plainRoute(first)
	r.nested = rest != ""
	return r, nil
}

func isTables(name string) bool { return strings.EqualFold(name, "tables") }

// predicate holds the keys in the parentheses of a path.
type predicate struct {
	partition, row string
	count          int
	bare           bool // one literal without a name; partition holds it
}

// parsePredicate parses 'x' or PartitionKey='p',RowKey='r' in any order with
// blanks around the commas. For an unknown or repeated key it returns count 0.
// For a syntax error it returns false.
func parsePredicate(s string) (p predicate, ok bool) {
	havePartition, haveRow := false, false
	for {
		s = strings.TrimLeft(s, " ")
		name := ""
		if !strings.HasPrefix(s, "'") {
			if name, s, ok = strings.Cut(s, "="); !ok {
				return p, false
			}
			name = strings.TrimRight(name, " ")
			s = strings.TrimLeft(s, " ")
		}
		value, rest, ok := quoted(s)
		if !ok {
			return p, false
		}
		switch {
		case name == "PartitionKey" && !havePartition:
			p.partition, havePartition = value, true
		case name == "RowKey" && !haveRow:
			p.row, haveRow = value, true
		case name == "":
			p.partition, p.bare = value, true
		default:
			return predicate{}, true
		}
		p.count++
		s = strings.TrimLeft(rest, " ")
		if s == "" {
			return p, true
		}
		if s, ok = strings.CutPrefix(s, ","); !ok || p.count > 1 {
			return p, false
		}
	}
}

// quoted cuts a quoted literal from the front of s. In the literal, two quotes
// in a row are one quote.
func quoted(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", "", false
	}
	s = s[1:]
	doubled := false
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			doubled = true
			i++
			continue
		}
		value, rest = s[:i], s[i+1:]
		if doubled {
			value = strings.ReplaceAll(value, "''", "'")
		}
		return value, rest, true
	}
	return "", "", false
}

// checkURLKey checks a key from a URL. The service has other errors for keys in
// a URL than for keys in a body.
func checkURLKey(k string) error {
	err := key.Check(k)
	switch {
	case err == nil:
		return nil
	case strings.ContainsAny(k, `/\`):
		return errQuerySyntax
	case err == key.ErrCharacter:
		return table.OutOfRangeInput.With("One of the request inputs is out of range. " + capital(err.Error()))
	case err == key.ErrLength:
		return table.CheckKey("PartitionKey or RowKey", k)
	}
	return table.InvalidInput.With("One of the request inputs is not valid. " + capital(err.Error()))
}

// capital makes a sentence from the text of an error.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

package protocol

import (
	"strings"

	"edgetable/core/address"
	"edgetable/core/key"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// resource is the kind of object that a path addresses.
type resource uint8

const (
	root        resource = iota // /
	tableSet                    // /Tables
	oneTable                    // /Tables('name')
	entitySet                   // /name or /name()
	oneEntity                   // /name(PartitionKey='p',RowKey='r')
	batch                       // /$batch
	metadata                    // /$metadata
	entityCount                 // /name/$count or /name()/$count (an extension)

	// The query options comp and restype select the following resources. Their errors are in plain XML,
	// whatever Accept is.
	tableACL          // /name?comp=acl
	tableOptions      // /name?comp=options
	tableChanges      // /name?comp=changes
	tableTraffic      // /name?comp=traffic
	tableRestore      // /name?comp=restore
	serviceProperties // /?restype=service&comp=properties
	serviceStats      // /?restype=service&comp=stats
	delegationKey     // /?restype=service&comp=userdelegationkey
)

// entities reports whether the resource consists of entities: one entity, or the set of entities of a table.
func (r resource) entities() bool { return r == entitySet || r == oneEntity }

// route is a resource with the decoded names and keys of its address.
type route struct {
	resource     resource
	table        string
	partitionKey string
	rowKey       string
	nested       bool  // the path has another segment after the table's name
	misbuilt     error // error of a nested path with a wrong number of keys; it is reported only if the table exists
}

// errQuerySyntax is the error for parentheses with invalid contents, or with a key that has a slash or a
// backslash.
var errQuerySyntax = table.InvalidInput.With("Bad Request - Error in query syntax. Address an entity as table(PartitionKey='…',RowKey='…'). A key must not contain slashes or backslashes; write ' in a key as ''.")

// errNoCount is errQuerySyntax with a hint, for an address that only a server with extensions supports.
var errNoCount = table.InvalidInput.With(errQuerySyntax.Message + " $count needs a server with --extensions (EDGETABLE_EXTENSIONS=true).")

// errKeyCount returns the error for a resource with a wrong number of keys.
func errKeyCount(account, resource string) error {
	if isTables(resource) {
		resource = "Tables"
	}
	return table.InvalidInput.With("The number of keys specified in the URI does not match number of key properties for the resource '" +
		account + "." + resource + "'. Address an entity as table(PartitionKey='…',RowKey='…').")
}

// parseRoute parses the part of a raw path after the account. It decodes the path only once, because a key may
// contain a percent sign.
//
// In a path of several segments, the first segment is the table. The parentheses at the end contain the keys.
// The service ignores the segments in between, as was recorded for all nested paths from 2021 to 2026. Clients
// whose base URL wrongly includes a table rely on that.
//
// With extensions, $count may follow the address of a table.
func parseRoute(account, raw string, extensions bool) (route, error) {
	path, ok := percent.Decode(raw, false)
	if !ok {
		return route{}, table.InvalidURI.With("The requested URI does not represent any resource on the server. The URI has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25.")
	}
	counted, counts := strings.CutSuffix(path, "/$count")
	if counts && extensions {
		if r := plainRoute(strings.TrimSuffix(counted, "()")); r.resource == entitySet && !strings.ContainsAny(r.table, "/(") {
			r.resource = entityCount
			return r, nil
		}
	}
	name, predicate, hasPredicate := strings.Cut(path, "(")
	name, rest, segments := strings.Cut(name, "/")
	nested := strings.Trim(rest, "/") != ""
	if collection := plainRoute(name); segments && collection.resource != entitySet {
		return nestedCollection(account, collection, name, rest, predicate, hasPredicate)
	}
	if hasPredicate {
		if predicate, ok = strings.CutSuffix(predicate, ")"); !ok {
			if counts && strings.HasSuffix(counted, "()") {
				return route{}, errNoCount
			}
			return route{}, errQuerySyntax
		}
	}
	if strings.TrimSpace(predicate) == "" {
		r := plainRoute(name)
		r.nested = nested
		return r, nil
	}
	keys, ok := address.ParseKeys(predicate)
	if !ok {
		return route{}, errQuerySyntax
	}
	if isTables(name) {
		if keys.Count != 1 || !keys.Bare {
			return route{}, errKeyCount(account, name)
		}
		return route{resource: oneTable, table: keys.Partition}, nil
	}
	if keys.Count != 2 || keys.Bare {
		err := errKeyCount(account, name)
		if nested {
			return route{resource: oneEntity, table: name, nested: true, misbuilt: err}, nil
		}
		return route{}, err
	}
	for _, k := range [...]string{keys.Partition, keys.Row} {
		if err := checkURLKey(k); err != nil {
			return route{}, err
		}
	}
	return route{resource: oneEntity, table: name, partitionKey: keys.Partition, rowKey: keys.Row, nested: nested}, nil
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

// nestedCollection returns the route of a path of several segments whose first segment is Tables, $batch, $metadata or empty.
// Such a path names no table. Clients with a wrong base URL send some of these paths. All other such paths are errors.
func nestedCollection(account string, r route, first, rest, predicate string, hasPredicate bool) (route, error) {
	switch {
	case rest != "" && !isTables(rest) && rest != "$batch":
		return route{}, table.InvalidResourceName.Err()
	case hasPredicate && strings.TrimSpace(predicate) != ")":
		return route{}, errKeyCount(account, first)
	}
	r.nested = rest != ""
	return r, nil
}

func isTables(name string) bool { return strings.EqualFold(name, "tables") }

// checkURLKey checks a key in a URL. For an illegal key, the service has other errors than for a key in a
// body.
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

// capital returns an error text as a sentence, with a capital letter and a full stop.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

package address

import (
	"strings"

	"edgetable/core/key"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// Resource is the kind of resource that a path addresses.
type Resource uint8

const (
	Root        Resource = iota // /
	TableSet                    // /Tables
	OneTable                    // /Tables('name')
	EntitySet                   // /name or /name()
	OneEntity                   // /name(PartitionKey='p',RowKey='r')
	Batch                       // /$batch
	Metadata                    // /$metadata
	EntityCount                 // /name/$count or /name()/$count (an extension)

	// The following resources are selected by comp and restype. Their errors are in plain XML, whatever the Accept
	// header is.
	TableACL          // /name?comp=acl
	TableOptions      // /name?comp=options
	TableChanges      // /name?comp=changes
	TableTraffic      // /name?comp=traffic
	TableRestore      // /name?comp=restore
	ServiceProperties // /?restype=service&comp=properties
	ServiceStats      // /?restype=service&comp=stats
	DelegationKey     // /?restype=service&comp=userdelegationkey
)

// Entities reports whether the resource is one entity or the set of entities of a table.
func (r Resource) Entities() bool { return r == EntitySet || r == OneEntity }

// Route is a resource with the decoded names and keys from its path.
type Route struct {
	Resource     Resource
	Table        string
	PartitionKey string
	RowKey       string
	Nested       bool  // whether the path has another segment after the table name
	Misbuilt     error // error for a nested path with a wrong number of keys; it is reported only if the table exists
}

// errQuerySyntax is the error for invalid parentheses, or for a key with a slash or a backslash.
var errQuerySyntax = table.InvalidInput.With("Bad Request - Error in query syntax. Address an entity as table(PartitionKey='…',RowKey='…'). A key must not contain slashes or backslashes; write ' in a key as ''.")

// errNoCount is errQuerySyntax with the hint that a server with extensions supports $count.
var errNoCount = table.InvalidInput.With(errQuerySyntax.Message + " $count needs a server with --extensions (EDGETABLE_EXTENSIONS=true).")

// errKeyCount returns the error for a resource with a wrong number of keys.
func errKeyCount(account, resource string) error {
	if isTables(resource) {
		resource = "Tables"
	}
	return table.InvalidInput.With("The number of keys specified in the URI does not match number of key properties for the resource '" +
		account + "." + resource + "'. Address an entity as table(PartitionKey='…',RowKey='…').")
}

// ParseRoute parses the raw path after the account. It decodes the path exactly once, because a key may contain a
// percent sign. With extensions, $count may follow a table.
//
// As in the service, segments between the table and the keys are ignored. Clients whose base URL wrongly includes a
// table rely on this.
func ParseRoute(account, raw string, extensions bool) (Route, error) {
	path, ok := percent.Decode(raw, false)
	if !ok {
		return Route{}, table.InvalidURI.With("The requested URI does not represent any resource on the server. The URI has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25.")
	}
	counted, counts := strings.CutSuffix(path, "/$count")
	if counts && extensions {
		if r := plainRoute(strings.TrimSuffix(counted, "()")); r.Resource == EntitySet && !strings.ContainsAny(r.Table, "/(") {
			r.Resource = EntityCount
			return r, nil
		}
	}
	name, predicate, hasPredicate := strings.Cut(path, "(")
	name, rest, segments := strings.Cut(name, "/")
	nested := strings.Trim(rest, "/") != ""
	if collection := plainRoute(name); segments && collection.Resource != EntitySet {
		return nestedCollection(account, collection, name, rest, predicate, hasPredicate)
	}
	if hasPredicate {
		if predicate, ok = strings.CutSuffix(predicate, ")"); !ok {
			if counts && strings.HasSuffix(counted, "()") {
				return Route{}, errNoCount
			}
			return Route{}, errQuerySyntax
		}
	}
	if strings.TrimSpace(predicate) == "" {
		r := plainRoute(name)
		r.Nested = nested
		return r, nil
	}
	k, ok := parseKeys(predicate)
	if !ok {
		return Route{}, errQuerySyntax
	}
	if isTables(name) {
		if k.count != 1 || !k.bare {
			return Route{}, errKeyCount(account, name)
		}
		return Route{Resource: OneTable, Table: k.partition}, nil
	}
	if k.count != 2 || k.bare {
		err := errKeyCount(account, name)
		if nested {
			return Route{Resource: OneEntity, Table: name, Nested: true, Misbuilt: err}, nil
		}
		return Route{}, err
	}
	for _, one := range [...]string{k.partition, k.row} {
		if err := checkURLKey(one); err != nil {
			return Route{}, err
		}
	}
	return Route{Resource: OneEntity, Table: name, PartitionKey: k.partition, RowKey: k.row, Nested: nested}, nil
}

func plainRoute(name string) Route {
	switch {
	case name == "":
		return Route{Resource: Root}
	case name == "$batch":
		return Route{Resource: Batch}
	case name == "$metadata":
		return Route{Resource: Metadata}
	case isTables(name):
		return Route{Resource: TableSet}
	}
	return Route{Resource: EntitySet, Table: name}
}

// nestedCollection returns the route of a path of several segments that begins with Tables, $batch, $metadata or an
// empty segment, as from clients with a wrong base URL.
func nestedCollection(account string, r Route, first, rest, predicate string, hasPredicate bool) (Route, error) {
	switch {
	case rest != "" && !isTables(rest) && rest != "$batch":
		return Route{}, table.InvalidResourceName.Err()
	case hasPredicate && strings.TrimSpace(predicate) != ")":
		return Route{}, errKeyCount(account, first)
	}
	r.Nested = rest != ""
	return r, nil
}

func isTables(name string) bool { return strings.EqualFold(name, "tables") }

// checkURLKey validates a key in a URL. As in the service, the errors differ from the errors for a key in a body.
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

// capital converts an error text to a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

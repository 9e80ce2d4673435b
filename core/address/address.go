// Package address decodes the URL of a request: the account (in the host or the path), the resource (in the rest of the
// path) and the query options. It does not examine credentials.
package address

import (
	"strings"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// Target is a request target, split into parts that are not decoded.
type Target struct {
	Path  string // escaped path; begins with "/"
	Query string // escaped query without "?"
	Host  string // host of an absolute URI, or ""
}

// Parse splits a request target into its parts.
func Parse(raw string) Target {
	var t Target
	raw, t.Query, _ = strings.Cut(raw, "?")
	if scheme, rest, ok := strings.Cut(raw, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			i = len(rest)
		}
		t.Host, raw = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(raw, "/") {
		raw = "/" + raw
	}
	t.Path = raw
	return t
}

// Address is the account that a request addresses, and the path within the account.
type Address struct {
	Account   string // name of the account, without SecondarySuffix
	Secondary bool
	Base      string // in path style: "/" and the first path segment, which names the account; otherwise ""
	Rest      string // escaped path after the account, without leading slashes
}

// SecondarySuffix is the suffix of the account name in URLs of the secondary endpoint.
const SecondarySuffix = "-secondary"

// Locate determines the account of a request. It is the first label of a host such as acme.table.example.com. For any
// other host, or if forcePathStyle is set, it is the first path segment.
func (t Target) Locate(host string, forcePathStyle bool) (Address, bool) {
	if t.Host != "" {
		host = t.Host
	}
	var a Address
	if label, ok := hostAccount(host); ok && !forcePathStyle {
		a.Account = label
		a.Rest = strings.TrimLeft(t.Path, "/")
	} else {
		path := strings.TrimLeft(t.Path, "/")
		segment, rest, _ := strings.Cut(path, "/")
		var ok bool
		if a.Account, ok = percent.Decode(segment, false); !ok {
			return a, false
		}
		a.Base = "/" + segment
		a.Rest = strings.TrimLeft(rest, "/")
	}
	if primary, ok := strings.CutSuffix(a.Account, SecondarySuffix); ok {
		a.Account, a.Secondary = primary, true
		if a.Base != "" {
			a.Rest = withoutAccount(a.Account, a.Rest)
		}
	}
	return a, a.Account != ""
}

// withoutAccount removes the account name from the start of rest, unless it is the last segment (a table name).
// Python's SDK repeats the account name at the secondary endpoint.
func withoutAccount(account, path string) string {
	segment, behind, ok := strings.Cut(path, "/")
	if name, _ := percent.Decode(segment, false); ok && name == account {
		return strings.TrimLeft(behind, "/")
	}
	return path
}

// hostAccount returns the first label of a host name such as account.table.example.com.
func hostAccount(host string) (string, bool) {
	label, rest, ok := strings.Cut(host, ".")
	if !ok || len(rest) < 6 || !strings.EqualFold(rest[:6], "table.") {
		return "", false
	}
	return table.FoldName(label), true
}

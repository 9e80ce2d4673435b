// Package address decodes the URL of a request. The host or the path names an account. The rest of the path names a
// resource of this account. The query has options. The package does not examine the credentials in the query.
package address

import (
	"strings"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// Target is a request target in parts, none of them decoded.
type Target struct {
	Path  string // the escaped path, which begins with "/"
	Query string // the escaped query, without "?"
	Host  string // the host, if the target is an absolute URI; else ""
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

// Address names the account that a request addresses, and the path within this account.
type Address struct {
	Account   string // name of the account, without SecondarySuffix
	Secondary bool
	Base      string // in path style: "/" and the first segment of the path, which names the account; otherwise ""
	Rest      string // the escaped path after the account, without leading slashes
}

// SecondarySuffix is the end of the account name in URLs of an account's secondary endpoint.
const SecondarySuffix = "-secondary"

// Locate finds the account of a request. It uses path style if forcePathStyle is set or the host cannot name an
// account: an IP address, localhost, or a name without ".table.".
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

// withoutAccount removes a repeated account name from the path of a request to the secondary endpoint. Python's SDK
// repeats the name, because it appends the full path of a primary request to the secondary's path. If the repeated
// name is the last segment, it is not removed, because it is the name of a table.
func withoutAccount(account, rest string) string {
	segment, behind, ok := strings.Cut(rest, "/")
	if name, _ := percent.Decode(segment, false); ok && name == account {
		return strings.TrimLeft(behind, "/")
	}
	return rest
}

// hostAccount returns the first label of a host name such as account.table.example.com.
func hostAccount(host string) (string, bool) {
	label, rest, ok := strings.Cut(host, ".")
	if !ok || len(rest) < 6 || !strings.EqualFold(rest[:6], "table.") {
		return "", false
	}
	return table.FoldName(label), true
}

package protocol

import (
	"strings"

	"edgetable/core/percent"
	"edgetable/core/table"
)

// target holds the parts of a request target without decoding them.
type target struct {
	path  string // raw, begins with "/"
	query string // raw, without "?"
	host  string // from an absolute URI, else ""
}

func parseTarget(raw string) target {
	var t target
	raw, t.query, _ = strings.Cut(raw, "?")
	if scheme, rest, ok := strings.Cut(raw, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			i = len(rest)
		}
		t.host, raw = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(raw, "/") {
		raw = "/" + raw
	}
	t.path = raw
	return t
}

// address identifies the account that the request addresses, and its style.
type address struct {
	account   string // name of the primary
	secondary bool
	base      string // "/" + account segment in path style, else ""
	rest      string // raw path after the account, without leading slashes
}

// isAccountName reports whether an account may have the name. Only such names
// are logged, since a request may have anything in their place.
func isAccountName(s string) bool {
	if len(s) < 3 || len(s) > 24 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

const secondarySuffix = "-secondary"

// locate finds the account. It uses path style if the host cannot name an
// account: an IP address, localhost, or a name without ".table.".
func locate(t target, host string, forcePathStyle bool) (address, bool) {
	if t.host != "" {
		host = t.host
	}
	var a address
	if label, ok := hostAccount(host); ok && !forcePathStyle {
		a.account = label
		a.rest = strings.TrimLeft(t.path, "/")
	} else {
		path := strings.TrimLeft(t.path, "/")
		segment, rest, _ := strings.Cut(path, "/")
		var ok bool
		if a.account, ok = percent.Decode(segment, false); !ok {
			return a, false
		}
		a.base = "/" + segment
		a.rest = strings.TrimLeft(rest, "/")
	}
	if primary, ok := strings.CutSuffix(a.account, secondarySuffix); ok {
		a.account, a.secondary = primary, true
		if a.base != "" {
			a.rest = withoutAccount(a.account, a.rest)
		}
	}
	return a, a.account != ""
}

// withoutAccount removes a repeated account name from the path of a request to
// the secondary. The SDK for Python repeats it: it appends the path of a
// request to the primary to the path of the secondary. A name without a slash
// after it is a table.
func withoutAccount(account, rest string) string {
	segment, behind, ok := strings.Cut(rest, "/")
	if name, _ := percent.Decode(segment, false); ok && name == account {
		return strings.TrimLeft(behind, "/")
	}
	return rest
}

// hostAccount returns the first label of a host like account.table.example.com.
func hostAccount(host string) (string, bool) {
	label, rest, ok := strings.Cut(host, ".")
	if !ok || len(rest) < 6 || !strings.EqualFold(rest[:6], "table.") {
		return "", false
	}
	return table.FoldName(label), true
}

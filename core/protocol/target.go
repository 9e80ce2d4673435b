package protocol

import (
	"strings"

	"edgetable/core/table"
)

// target is a request target taken apart but not decoded.
type target struct {
	path  string // raw, begins with "/"
	query string // raw, without "?"
	host  string // of an absolute URI, else ""
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

// unescape decodes percent escapes once. plusIsSpace: as in a query.
func unescape(s string, plusIsSpace bool) (string, bool) {
	i := 0
	for i < len(s) && s[i] != '%' && (s[i] != '+' || !plusIsSpace) {
		i++
	}
	if i == len(s) {
		return s, true
	}
	out := make([]byte, i, len(s))
	copy(out, s)
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi|lo > 15 {
				return "", false
			}
			out = append(out, hi<<4|lo)
			i += 2
		case c == '+' && plusIsSpace:
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	return string(out), true
}

// unhex is the value of a hexadecimal digit, more than 15 for anything else.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xFF
}

// address is where the request goes: whose account, by which style.
type address struct {
	account   string // of the primary
	secondary bool
	base      string // "/" + account segment in path style, else ""
	rest      string // raw path behind the account, without leading slashes
}

const secondarySuffix = "-secondary"

// locate finds the account. Path style is used where the host cannot name an
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
		if a.account, ok = unescape(segment, false); !ok {
			return a, false
		}
		a.base = "/" + segment
		a.rest = strings.TrimLeft(rest, "/")
	}
	if primary, ok := strings.CutSuffix(a.account, secondarySuffix); ok {
		a.account, a.secondary = primary, true
	}
	return a, a.account != ""
}

// hostAccount is the first label of a host like account.table.example.com.
func hostAccount(host string) (string, bool) {
	label, rest, ok := strings.Cut(host, ".")
	if !ok || len(rest) < 6 || !strings.EqualFold(rest[:6], "table.") {
		return "", false
	}
	return table.FoldName(label), true
}

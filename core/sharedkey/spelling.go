package sharedkey

import (
	"strings"

	"edgetable/core/percent"
)

// Some HTTP libraries change the escapes in the path after the client has signed it. Verify therefore accepts signatures
// over three spellings of the path: the path as the server received it, and
//
//   - the path in which escapes of unreserved characters and of ' ( ) , ; = : @ ! $ & * are decoded. For example,
//     Python's asynchronous client signs two quotes as they are, and its library sends them as %27%27.
//   - the path in which each quote (') is replaced by %27, for clients that sign %27 and send a quote.
//
// All spellings decode to the same bytes, so a signature is never valid for another entity. If a path contains a
// malformed escape, only the path as received is accepted.

// spellings appends the other accepted spellings of path to dst. There are at most two, which differ from path and from
// each other.
func spellings(dst []string, path string) []string {
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			continue
		}
		if _, ok := percent.Byte(path, i); !ok {
			return dst
		}
		i += 2
	}
	decoded := decodeSubDelims(path)
	if decoded != path {
		dst = append(dst, decoded)
	}
	if quoted := strings.ReplaceAll(path, "'", "%27"); quoted != path {
		dst = append(dst, quoted)
	}
	return dst
}

// decodeSubDelims decodes the escapes that a URI library may decode without changing the meaning of the path. All
// escapes must be valid.
func decodeSubDelims(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' {
			if c, _ := percent.Byte(path, i); decodable(c) {
				out = append(out, c)
				i += 2
				continue
			}
		}
		out = append(out, path[i])
	}
	return string(out)
}

func decodable(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~'(),;=:@!$&*", c) >= 0
}

// primaryPath converts a path "/account-secondary/…" of the secondary endpoint to the path "/account/…" of the primary.
// Some SDKs sign this path.
func primaryPath(account, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(rest, account)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(rest, "-secondary")
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	if twice, ok := strings.CutPrefix(rest, "/"+account); ok && strings.HasPrefix(twice, "/") {
		return rest, true
	}
	return "/" + account + rest, true
}

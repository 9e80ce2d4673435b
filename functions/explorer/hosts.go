package explorer

import (
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the host names under which the page is served, in addition to IP addresses. They are in lower case and
// without ports. If an attacker's host name resolves to this machine (DNS rebinding), it is not one of these names.
type Hosts []string

// known reports whether a Host header is an IP address, localhost, or one of the names. The port is ignored, because
// a tunnel may use another port.
func (h Hosts) known(host string) bool {
	name, a := parseHost(host)
	return a.IsValid() || name == "localhost" || slices.Contains(h, name)
}

// loopback reports whether a Host header is localhost or a loopback address.
func loopback(host string) bool {
	name, a := parseHost(host)
	return name == "localhost" || a.IsLoopback()
}

// parseHost splits a Host header into a name and an IP address. The name is in lower case and without the port. The
// address is invalid if the name is not an address. The name is "" if the header is malformed: an IPv6 address needs
// both brackets and has no zone. Addresses are parsed, because text such as 127.0.0.1.example.com only looks like
// one.
func parseHost(host string) (name string, a netip.Addr) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, port, ok := strings.Cut(inner, "]")
		a, err := netip.ParseAddr(inner)
		if !ok || err != nil || !a.Is6() || a.Zone() != "" || !isPort(port) {
			return "", netip.Addr{}
		}
		return inner, a.Unmap()
	}
	name = host
	if i := strings.IndexByte(host, ':'); i >= 0 {
		if !isPort(host[i:]) {
			return "", netip.Addr{}
		}
		name = host[:i]
	}
	a, _ = netip.ParseAddr(name)
	return strings.ToLower(name), a
}

// isPort reports whether a text is empty, or a colon followed by digits.
func isPort(s string) bool {
	return s == "" || s[0] == ':' && strings.Trim(s[1:], "0123456789") == ""
}

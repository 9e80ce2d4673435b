package explorer

import (
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the host names (lower case, without ports) under which the page is served, besides IP addresses. Other
// names are rejected, because an attacker's name may resolve to this machine (DNS rebinding).
type Hosts []string

// allows returns true if a Host header is an IP address, localhost, or one of the names. The port is ignored, because a
// tunnel may use another port.
func (h Hosts) allows(host string) bool {
	name, a := parseHost(host)
	return a.IsValid() || name == "localhost" || slices.Contains(h, name)
}

// loopback reports whether a Host header is localhost or a loopback address.
func loopback(host string) bool {
	name, a := parseHost(host)
	return name == "localhost" || a.IsLoopback()
}

// parseHost returns the name in a Host header, in lower case and without the port, and the address if the name is one.
// The name is "" if the header is malformed.
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

// isPort reports whether s is "" or a colon with digits.
func isPort(s string) bool {
	return s == "" || s[0] == ':' && strings.Trim(s[1:], "0123456789") == ""
}

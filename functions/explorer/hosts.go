package explorer

import (
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the host names under which the page is served, in addition to IP addresses: in lower case and without
// ports. A page of an attacker whose name resolves to this machine (DNS rebinding) has another host name.
type Hosts []string

// known reports whether a Host header is an address, localhost, or one of the names. The port does not matter, since
// a tunnel may use another one.
func (h Hosts) known(host string) bool {
	name, a := parseHost(host)
	return a.IsValid() || name == "localhost" || slices.Contains(h, name)
}

// loopback reports whether a Host header names this machine.
func loopback(host string) bool {
	name, a := parseHost(host)
	return name == "localhost" || a.IsLoopback()
}

// parseHost splits a Host header into a name, in lower case and without the port, and the IP address if the name is
// one. The name is "" if the header is malformed: an IPv6 address needs both brackets and has no zone. Addresses are
// parsed, not compared as text, since 127.0.0.1.example.com is a name.
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

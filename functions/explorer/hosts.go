package explorer

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// known reports whether a Host header is an address, localhost, or one of the
// names. The port does not matter: a tunnel may have another one.
func (h Hosts) known(host string) bool {
	name := hostname(host)
	return address(name).IsValid() || name == "localhost" || slices.Contains(h, name)
}

// loopback reports whether a Host header names this machine.
func loopback(host string) bool {
	name := hostname(host)
	return name == "localhost" || address(name).IsLoopback()
}

// hostname is a Host header without the port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(host)
}

// address reads an IP address, with or without brackets. It is parsed and not
// compared as text: 127.0.0.1.example.com is a name.
func address(name string) netip.Addr {
	a, _ := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return a.Unmap()
}

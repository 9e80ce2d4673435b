package server

import (
	"net"
	"testing"
)

// TestFirstGlobal checks that firstGlobal returns the first address that other networks can reach. IPv4 addresses take
// precedence over IPv6 addresses. Loopback and link-local addresses must never be returned.
func TestFirstGlobal(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{
		"":            {"127.0.0.1/8", "::1/128", "fe80::1/64"},
		"192.0.2.5":   {"127.0.0.1/8", "2001:db8::5/64", "192.0.2.5/24", "192.0.2.6/24"},
		"2001:db8::5": {"::1/128", "fe80::1/64", "2001:db8::5/64", "2001:db8::6/64"},
	} {
		var all []net.Addr
		for _, one := range list {
			ip, network, err := net.ParseCIDR(one)
			if err != nil {
				t.Fatal(err)
			}
			network.IP = ip
			all = append(all, network)
		}
		if got := firstGlobal(all); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

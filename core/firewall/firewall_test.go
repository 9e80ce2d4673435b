package firewall_test

import (
	"net/netip"
	"testing"

	"edgetable/core/firewall"
)

func TestFirewall(t *testing.T) {
	t.Parallel()
	nets := func(list ...string) (p []netip.Prefix) {
		for _, s := range list {
			p = append(p, netip.MustParsePrefix(s))
		}
		return p
	}
	for _, tt := range []struct {
		allow, deny []netip.Prefix
		source      string
		want        bool
		why         string
	}{
		{nil, nil, "192.0.2.1", true, "no rules"},
		{nil, nil, "", true, "no rules, no address"},
		{nets("192.0.2.0/24"), nil, "192.0.2.1", true, "allowed"},
		{nets("192.0.2.0/24"), nil, "::ffff:192.0.2.1", true, "allowed, in IPv6 notation"},
		{nets("192.0.2.0/24", "10.0.0.0/8"), nil, "10.1.2.3", true, "allowed by the second"},
		{nets("192.0.2.0/24"), nil, "192.0.3.1", false, "not allowed"},
		{nets("192.0.2.0/24"), nil, "", false, "unknown address"},
		{nil, nets("192.0.2.0/24"), "192.0.2.1", false, "denied"},
		{nil, nets("192.0.2.0/24"), "192.0.3.1", true, "not denied"},
		{nets("192.0.2.0/24"), nets("192.0.2.7/32"), "192.0.2.7", false, "allowed and denied"},
		{nets("2001:db8::/32"), nil, "2001:db8::1", true, "IPv6"},
		{nets("2001:db8::/32"), nil, "fe80::1%eth0", false, "an address with a zone"},
		{nets("fe80::/10"), nil, "fe80::1%eth0", true, "allowed on every link"},
		{nil, nets("fe80::/10"), "fe80::1%eth0", false, "denied on every link"},
	} {
		f := firewall.Firewall{Allow: tt.allow, Deny: tt.deny}
		var source netip.Addr
		if tt.source != "" {
			source = netip.MustParseAddr(tt.source)
		}
		if got := f.Admits(source); got != tt.want {
			t.Errorf("%s: %t", tt.why, got)
		}
	}
}

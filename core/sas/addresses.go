package sas

import (
	"net/netip"
	"strings"
)

// addresses is an inclusive range of IP addresses.
type addresses struct{ first, last netip.Addr }

// parseAddresses parses the value of sip: one address, or two with a dash between them. The service supports only IPv4;
// this package also accepts IPv6.
func parseAddresses(s string) (addresses, bool) {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	first, err1 := netip.ParseAddr(from)
	last, err2 := netip.ParseAddr(to)
	if err1 != nil || err2 != nil || first.Zone() != "" || last.Zone() != "" {
		return addresses{}, false
	}
	a := addresses{first.Unmap(), last.Unmap()}
	return a, a.first.Is4() == a.last.Is4() && a.first.Compare(a.last) <= 0
}

// addresses parses the sip of the token. Without sip, it returns the zero range.
func (t *Token) addresses() (addresses, error) {
	if !t.given.has(sip) {
		return addresses{}, nil
	}
	a, ok := parseAddresses(t.value(sip))
	if !ok {
		return a, authenticationFailed("sip must be an IP address, or a range of two addresses with a dash between them and the lower address first; it is " + quote(t.value(sip)))
	}
	return a, nil
}

// contains reports whether x is in the range. The zero address is in no range. An IPv4-mapped IPv6 address counts as
// IPv4. All addresses of a range are of the same family.
func (a addresses) contains(x netip.Addr) bool {
	x = x.Unmap().WithZone("")
	return x.IsValid() && a.first.Compare(x) <= 0 && x.Compare(a.last) <= 0
}

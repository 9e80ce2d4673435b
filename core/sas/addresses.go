package sas

import (
	"net/netip"
	"strings"
)

// addresses are those from first to last, both included.
type addresses struct{ first, last netip.Addr }

// parseAddresses reads the value of sip: one address or two with a dash
// between them. The service knows IPv4 alone; IPv6 is taken as well.
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

// addresses reads sip; without it there are none.
func (t *Token) addresses() (addresses, error) {
	if !t.given.has(sip) {
		return addresses{}, nil
	}
	a, ok := parseAddresses(t.value(sip))
	if !ok {
		return a, failed("sip is an IP address or two with a dash between them, the lower one first; it is " + quote(t.value(sip)))
	}
	return a, nil
}

// contains is false for the zero address. An IPv4 address in IPv6 clothes is
// the same address; one of the other family is before or behind all of these.
func (a addresses) contains(x netip.Addr) bool {
	x = x.Unmap().WithZone("")
	return x.IsValid() && a.first.Compare(x) <= 0 && x.Compare(a.last) <= 0
}

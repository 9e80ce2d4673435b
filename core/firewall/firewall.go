// Package firewall restricts the addresses from which an account accepts requests.
package firewall

import (
	"net/netip"
	"slices"
)

// Firewall is the list of address rules of an account. The zero Firewall accepts every address.
type Firewall struct {
	// Allow lists the accepted addresses. If Allow is empty, all addresses that are not in Deny are accepted.
	Allow []netip.Prefix
	// Deny lists the rejected addresses. Deny takes precedence over Allow.
	Deny []netip.Prefix
}

// Admits reports whether requests from source are accepted. An unknown (zero) address is accepted only if there are no
// rules.
func (f *Firewall) Admits(source netip.Addr) bool {
	if len(f.Allow) == 0 && len(f.Deny) == 0 {
		return true
	}
	source = source.Unmap().WithZone("") // a prefix never contains an address with a zone
	return source.IsValid() && !within(f.Deny, source) && (len(f.Allow) == 0 || within(f.Allow, source))
}

func within(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

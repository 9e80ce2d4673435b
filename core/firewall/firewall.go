// Package firewall decides from which addresses an account accepts requests.
package firewall

import (
	"net/netip"
	"slices"
)

// Firewall lists the addresses from which an account accepts requests. The zero Firewall accepts every address.
type Firewall struct {
	// Allow lists the accepted addresses. If it is empty, Deny alone decides.
	Allow []netip.Prefix
	// Deny lists the refused addresses. It takes precedence over Allow.
	Deny []netip.Prefix
}

// Admits reports whether the account accepts requests from an address. An unknown (zero) address is accepted only by
// a Firewall without rules.
func (f *Firewall) Admits(source netip.Addr) bool {
	if len(f.Allow) == 0 && len(f.Deny) == 0 {
		return true
	}
	source = source.Unmap().WithZone("") // the zone is removed, because a prefix never matches an address with a zone
	return source.IsValid() && !within(f.Deny, source) && (len(f.Allow) == 0 || within(f.Allow, source))
}

func within(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

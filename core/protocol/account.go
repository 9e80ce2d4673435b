package protocol

import (
	"net/netip"
	"sync/atomic"

	"edgetable/core/sharedkey"
)

// Account is an account of the server. It is not copied.
type Account struct {
	sharedkey.Account // its name and keys
	// Disabled refuses every request, however it is signed.
	Disabled bool
	Firewall Firewall

	known atomic.Pointer[known] // settings that were read
}

// Firewall says from which addresses an account may be reached. The zero
// Firewall lets everybody in.
type Firewall struct {
	// Allow is all there is to allow, unless it is empty: then everything is.
	Allow []netip.Prefix
	// Deny counts even where Allow does.
	Deny []netip.Prefix
}

// Admits reports whether requests may come from an address. An address that is
// not known passes only a Firewall without rules.
func (f *Firewall) Admits(source netip.Addr) bool {
	if len(f.Allow) == 0 && len(f.Deny) == 0 {
		return true
	}
	source = source.Unmap().WithZone("") // no prefix has an address with a zone, whatever network it is of
	return source.IsValid() && !within(f.Deny, source) && (len(f.Allow) == 0 || within(f.Allow, source))
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

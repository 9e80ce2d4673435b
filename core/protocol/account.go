package protocol

import (
	"net/netip"

	"edgetable/core/sharedkey"
)

// Account is an account of the server.
type Account struct {
	sharedkey.Account // the account's name and keys
	// Disabled refuses every request, also one with a valid signature.
	Disabled bool
	Firewall Firewall
}

// Firewall lists the addresses from which an account accepts requests. The zero
// Firewall accepts every address.
type Firewall struct {
	// Allow lists the accepted addresses. If it is empty, Deny alone decides.
	Allow []netip.Prefix
	// Deny lists the refused addresses. It takes precedence over Allow.
	Deny []netip.Prefix
}

// Admits reports whether the account accepts requests from an address. Only a
// Firewall without rules accepts an unknown address.
func (f *Firewall) Admits(source netip.Addr) bool {
	if len(f.Allow) == 0 && len(f.Deny) == 0 {
		return true
	}
	source = source.Unmap().WithZone("") // a prefix never matches an address with a zone
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

package protocol

import (
	"errors"
	"net/netip"
	"slices"

	"edgetable/core/sharedkey"
)

// Account is an account of the server.
type Account struct {
	sharedkey.Account // the account's name and keys
	// Disabled refuses every request, also one with a valid signature.
	Disabled bool
	// HTTPS refuses every request that does not come over HTTPS.
	HTTPS    bool
	Firewall Firewall
	// Audiences are those of bearer tokens for this account: a token must name
	// one of them.
	Audiences []string
	// Endpoint is the URL at which clients reach the account, for texts; "" is unknown.
	Endpoint string
	// Shared is set if the server has other accounts too. Then an account without
	// Audiences accepts no bearer tokens, because a token says nothing else about
	// the account that it is for.
	Shared bool
}

// admitsToken returns an error for clients if a valid bearer token is not for
// this account.
func (a *Account) admitsToken(id *Identity) error {
	switch {
	case slices.ContainsFunc(a.Audiences, func(one string) bool { return slices.Contains(id.Audiences, one) }):
		return nil
	case len(a.Audiences) > 0:
		return errors.New("the token is for another account: its aud has none of the audiences of this one")
	case a.Shared:
		return errors.New("the server has several accounts, and this one names no audience of its tokens: write audience=… behind its keys")
	}
	return nil
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
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

package protocol

import (
	"errors"
	"slices"

	"edgetable/core/firewall"
	"edgetable/core/sharedkey"
)

// Account is an account that the server serves, with its keys and access rules.
type Account struct {
	sharedkey.Account
	// Disabled makes the server refuse every request to the account, even with a valid signature.
	Disabled bool
	// HTTPS makes the server refuse every request that did not arrive over HTTPS.
	HTTPS    bool
	Firewall firewall.Firewall
	// Audiences lists the audiences that a bearer token for this account may name.
	Audiences []string
	// Endpoint is the URL at which clients reach the account, or "" if the URL is unknown. It is only displayed.
	Endpoint string
	// Shared is set if the server has other accounts too. An account without Audiences then accepts no bearer tokens,
	// because only a token's audience identifies its account.
	Shared bool
}

// admitsToken returns an error if a valid bearer token was not issued for this account. The error text is sent to the
// client.
func (a *Account) admitsToken(id *Identity) error {
	switch {
	case slices.ContainsFunc(a.Audiences, func(one string) bool { return slices.Contains(id.Audiences, one) }):
		return nil
	case len(a.Audiences) > 0:
		return errors.New("the token is for another account: its aud claim contains no audience of this account")
	case a.Shared:
		return errors.New("the server has several accounts, and this account has no audience for tokens: write audience=… after its keys")
	}
	return nil
}

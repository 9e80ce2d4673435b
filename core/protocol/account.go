package protocol

import (
	"errors"
	"slices"

	"edgetable/core/firewall"
	"edgetable/core/sharedkey"
)

// Account holds the name, the keys and the access rules of one account that the server serves.
type Account struct {
	sharedkey.Account // the account's name and keys
	// Disabled makes the server refuse every request to the account, even one with a valid signature.
	Disabled bool
	// HTTPS makes the server refuse every request that does not come over HTTPS.
	HTTPS    bool
	Firewall firewall.Firewall
	// Audiences are the audiences accepted for this account: a bearer token must name
	// one of them.
	Audiences []string
	// Endpoint is the URL at which clients reach the account, for display only; "" means unknown.
	Endpoint string
	// Shared is set if the server has other accounts too. An account without Audiences then accepts no bearer
	// tokens, because only the audience of a token tells for which account it was issued.
	Shared bool
}

// admitsToken checks whether a valid bearer token was issued for this account. If not, admitsToken returns an
// error that is shown to the client.
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

package sas

import (
	"edgetable/core/edm"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/version"
)

// Role is the role of a user in an account.
type Role uint8

const (
	Reader      Role = iota + 1 // Azure's role Storage Table Data Reader
	Contributor                 // Azure's role Storage Table Data Contributor
)

// String returns the name of the role, which is part of the text that [Delegate] signs.
func (r Role) String() string {
	switch r {
	case Reader:
		return "reader"
	case Contributor:
		return "contributor"
	}
	return "no role"
}

// maxDelegation is the maximum lifetime of a delegation key, seven days.
const maxDelegation edm.Ticks = 7 * 24 * 3600 * edm.TicksPerSecond

// DelegationKey is a key that the service issues to a user, whose client signs tokens with it. A token contains all
// fields of the key except Value.
//
// The server stores no delegation keys. It derives Value from an account key, the account, the user's role and the
// other fields. To verify a token, it tries the Value for each account key and role; the one that verifies the
// signature shows the role. Replacing an account key revokes its delegation keys.
type DelegationKey struct {
	ObjectID string // object id of the user, from oid in the bearer token
	TenantID string // tenant id of the user, from tid in the bearer token
	Start    string // a time such as 2006-01-02T15:04:05Z, in whole seconds
	Expiry   string // time in the same form as Start
	Service  string // "t" for tables
	Version  string // protocol version of the request for the key
	Value    string // secret: base64 of 32 bytes
}

// GoString returns the same text as String, so that %#v omits the secret too.
func (d DelegationKey) GoString() string { return d.String() }

// String returns the user and the times without the secret.
func (d DelegationKey) String() string {
	return "delegation key of " + d.ObjectID + " in " + d.TenantID + " from " + d.Start + " to " + d.Expiry + " (value withheld)"
}

// Delegate issues a delegation key derived from the account key k for a user. An empty user.Start means now.
// Delegate sets Service and Value, and truncates times to the second. The errors are:
//
//   - InvalidXmlDocument for a malformed time, because the times come from the XML of the request;
//   - OutOfRangeInput if Expiry is not after Start, not in the future, or more than seven days from now;
//   - AuthorizationPermissionMismatch if the user has no role or no ids;
//   - InvalidHeaderValue if the version was never published.
func Delegate(k *sharedkey.Key, account string, role Role, user DelegationKey, now edm.Ticks) (DelegationKey, error) {
	start, expiry := now, edm.Ticks(0)
	var err error
	if user.Start != "" {
		if start, err = ParseTime(user.Start); err != nil {
			return DelegationKey{}, refuse(table.InvalidXMLDocument, "Start: "+err.Error())
		}
	}
	if expiry, err = ParseTime(user.Expiry); err != nil {
		return DelegationKey{}, refuse(table.InvalidXMLDocument, "Expiry: "+err.Error())
	}
	start -= start % edm.TicksPerSecond
	expiry -= expiry % edm.TicksPerSecond
	switch {
	case role != Reader && role != Contributor, !visible(user.ObjectID), !visible(user.TenantID):
		return DelegationKey{}, refuse(table.AuthorizationPermissionMismatch, "the token has no role that permits this request, or no object id or tenant id")
	case !version.Known(user.Version):
		return DelegationKey{}, refuse(table.InvalidHeaderValue, "send x-ms-version, "+DelegationVersion+" or later")
	case expiry <= start:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be after Start")
	case expiry <= now:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be in the future")
	case expiry > now+maxDelegation:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be within seven days from now")
	}
	user.Start, user.Expiry, user.Service = start.String(), expiry.String(), "t"
	user.Value = user.derive(k, account, role)
	return user, nil
}

// derive returns the secret of the delegation key: a signature over several lines. The first line occurs in no other
// signed text, so the secret is not a signature of anything else.
func (d *DelegationKey) derive(k *sharedkey.Key, account string, role Role) string {
	return k.SignLines([]string{
		"edgetable user delegation key", account, role.String(),
		d.ObjectID, d.TenantID, d.Start, d.Expiry, d.Service, d.Version,
	})
}

// delegation returns the delegation key that the token describes. The field Value of the key is empty.
func (t *Token) delegation() *DelegationKey {
	return &DelegationKey{ObjectID: t.value(skoid), TenantID: t.value(sktid), Start: t.value(skt), Expiry: t.value(ske), Service: t.value(sks), Version: t.value(skv)}
}

// findRole returns the role of the user whose delegation key made the signature. It tries each account key with each
// role.
func (d *DelegationKey) findRole(a *sharedkey.Account, signature string, lines []string) (Role, bool) {
	for _, k := range a.Keys {
		if k == nil {
			continue
		}
		for _, role := range [...]Role{Contributor, Reader} {
			lent, err := sharedkey.ParseKey(d.derive(k, a.Name, role))
			if err == nil && lent.VerifyLines(signature, lines) {
				k.MarkUsed()
				return role, true
			}
		}
	}
	return 0, false
}

// admitKey checks that the delegation key of the token is valid now and does not expire before the token. The signature
// covers the other fields of the key.
func (t *Token) admitKey(now, end edm.Ticks) error {
	if t.kind != delegationSAS {
		return nil
	}
	start, err := t.time(skt)
	if err != nil {
		return err
	}
	expiry, err := t.time(ske)
	if err != nil {
		return err
	}
	switch {
	case now < start:
		return authenticationFailed("the user delegation key is valid from " + start.String() + "; it is " + now.String())
	case end > expiry:
		return authenticationFailed("the token expires at " + end.String() + ", after its user delegation key at " + expiry.String())
	}
	return nil
}

// visible reports whether s consists of 1 to maxValue characters of visible ASCII.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxValue
}

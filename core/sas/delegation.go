package sas

import (
	"edgetable/core/edm"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// Role is the set of operations that a user may do with the data of an account.
type Role uint8

const (
	Reader      Role = iota + 1 // Storage Table Data Reader
	Contributor                 // Storage Table Data Contributor
)

// String returns the name that is part of the derivation of a key.
func (r Role) String() string {
	switch r {
	case Reader:
		return "reader"
	case Contributor:
		return "contributor"
	}
	return "no role"
}

// maxDelegation is the longest validity of a delegation key: seven days.
const maxDelegation edm.Ticks = 7 * 24 * 3600 * edm.TicksPerSecond

// DelegationKey is a key lent to a user; the user's client signs tokens for
// others with it. Every token contains all fields except Value.
//
// The server stores nothing of it. Value is derived from an account key and
// from all properties of the delegation key: account, role, user, times,
// service and version. From the fields in a token the server derives the value
// again, with both account keys and for both roles; the value that fits the
// signature shows the role. A change of the account key revokes all delegation
// keys.
type DelegationKey struct {
	ObjectID string // of the user: oid of the bearer token
	TenantID string // tid of the bearer token
	Start    string // 2006-01-02T15:04:05Z, whole seconds
	Expiry   string // the same
	Service  string // "t"
	Version  string // of the protocol, as in the request
	Value    string // base64 of 32 bytes
}

// GoString keeps the value out of %#v, as String does for the other verbs.
func (d DelegationKey) GoString() string { return d.String() }

// String names the user and the times.
func (d DelegationKey) String() string {
	return "delegation key of " + d.ObjectID + " in " + d.TenantID + " from " + d.Start + " to " + d.Expiry + " (value withheld)"
}

// Delegate makes a delegation key from k, a key of the account, for the user in
// want. An empty Start of want means now; Delegate sets Service and Value. It
// truncates times to the second. The error is OutOfRangeInput for a key that
// starts after it ends, has ended, or ends more than seven days from now, and
// InvalidXmlDocument for a malformed time, because the time comes from the
// request's XML document.
func Delegate(k *sharedkey.Key, account string, role Role, want DelegationKey, now edm.Ticks) (DelegationKey, error) {
	start, expiry := now, edm.Ticks(0)
	var err error
	if want.Start != "" {
		if start, err = ParseTime(want.Start); err != nil {
			return DelegationKey{}, refuse(table.InvalidXMLDocument, "Start: "+err.Error())
		}
	}
	if expiry, err = ParseTime(want.Expiry); err != nil {
		return DelegationKey{}, refuse(table.InvalidXMLDocument, "Expiry: "+err.Error())
	}
	start -= start % edm.TicksPerSecond
	expiry -= expiry % edm.TicksPerSecond
	switch {
	case role != Reader && role != Contributor, !visible(want.ObjectID), !visible(want.TenantID):
		return DelegationKey{}, refuse(table.AuthorizationPermissionMismatch, "the user has no role that allows it, or no object id or tenant id")
	case !versionForm(want.Version):
		return DelegationKey{}, refuse(table.InvalidHeaderValue, "send x-ms-version, "+DelegationVersion+" or later")
	case expiry <= start:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be after Start")
	case expiry <= now:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be in the future")
	case expiry > now+maxDelegation:
		return DelegationKey{}, refuse(table.OutOfRangeInput, "Expiry must be within seven days from now")
	}
	want.Start, want.Expiry, want.Service = start.String(), expiry.String(), "t"
	want.Value = want.derive(k, account, role)
	return want, nil
}

// derive computes the value. The first line distinguishes the text from every
// string that is signed with an account key.
func (d *DelegationKey) derive(k *sharedkey.Key, account string, role Role) string {
	return k.SignLines([]string{
		"edgetable user delegation key", account, role.String(),
		d.ObjectID, d.TenantID, d.Start, d.Expiry, d.Service, d.Version,
	})
}

// delegation returns the delegation key that the token names, without its
// value.
func (t *Token) delegation() *DelegationKey {
	return &DelegationKey{ObjectID: t.value(skoid), TenantID: t.value(sktid), Start: t.value(skt), Expiry: t.value(ske), Service: t.value(sks), Version: t.value(skv)}
}

// signed tries both account keys and both roles.
func (d *DelegationKey) signed(a *sharedkey.Account, signature string, lines []string) (Role, bool) {
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

// admitKey checks, for a token that a delegation key signed, whether that key
// is valid now. A token must not outlive its key; the caller has checked the
// end of the token. The other fields are as Delegate made them, because
// otherwise the signature would be wrong.
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
		return failed("the user delegation key is valid from " + start.String() + "; it is " + now.String())
	case end > expiry:
		return failed("the token expires at " + end.String() + ", after its user delegation key at " + expiry.String())
	}
	return nil
}

// visible reports whether s is not empty and consists of visible ASCII.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxValue
}

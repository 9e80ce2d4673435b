package accounts

import (
	"crypto/subtle"
	"errors"
	"slices"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Next is the list of a text that has changed since l was read. An account
// that has not changed stays the same object, since the protocol caches settings in
// it. A text without accounts is an error: a file that was emptied by mistake must
// not lock all clients out.
func (l List) Next(text string) (List, error) {
	next, err := Parse(text)
	if err != nil {
		return nil, errors.New("accounts: " + err.Error())
	}
	if len(next) == 0 {
		return nil, errors.New("accounts: the text names no account")
	}
	next.Keep(l)
	return next, nil
}

// Keep puts the accounts of an earlier list in place of equal ones, with what the
// protocol keeps with them. It reports whether the lists are equal.
func (l List) Keep(before List) bool {
	kept := 0
	for name, was := range before {
		if is := l[name]; is != nil && same(was, is) {
			l[name] = was
			kept++
		}
	}
	return kept == len(l) && kept == len(before)
}

// same compares accounts of one name.
func same(a, b *protocol.Account) bool {
	return a.Disabled == b.Disabled && a.HTTPS == b.HTTPS && a.Endpoint == b.Endpoint &&
		a.Shared == b.Shared && slices.Equal(a.Audiences, b.Audiences) &&
		slices.Equal(a.Firewall.Allow, b.Firewall.Allow) && slices.Equal(a.Firewall.Deny, b.Firewall.Deny) &&
		sameKey(a.Keys[0], b.Keys[0]) && sameKey(a.Keys[1], b.Keys[1])
}

// sameKey compares signatures, since keys do not reveal their bytes; nil is no key.
func sameKey(a, b *sharedkey.Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return subtle.ConstantTimeCompare([]byte(a.Sign("")), []byte(b.Sign(""))) == 1
}

package accounts

import (
	"crypto/subtle"
	"errors"
	"slices"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Next parses a new text of the account list. The result replaces the list l. If an account has not changed, the
// result contains its old object. The protocol caches the account's settings in that object. A text without accounts
// is an error. Otherwise a file that was emptied by mistake would lock out all clients.
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

// Keep compares l with an earlier list. If an account is equal in both, l then contains the Account object of the
// earlier list, in which the protocol caches settings. Keep reports whether the lists are equal.
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

// same reports whether two accounts with the same name have the same settings and keys.
func same(a, b *protocol.Account) bool {
	return a.Disabled == b.Disabled && a.HTTPS == b.HTTPS && a.Endpoint == b.Endpoint &&
		a.Shared == b.Shared && slices.Equal(a.Audiences, b.Audiences) &&
		slices.Equal(a.Firewall.Allow, b.Firewall.Allow) && slices.Equal(a.Firewall.Deny, b.Firewall.Deny) &&
		sameKey(a.Keys[0], b.Keys[0]) && sameKey(a.Keys[1], b.Keys[1])
}

// sameKey reports whether two keys are equal. It compares signatures that are made with the keys, because a Key does
// not reveal its bytes. A nil key means that no key is set.
func sameKey(a, b *sharedkey.Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return subtle.ConstantTimeCompare([]byte(a.Sign("")), []byte(b.Sign(""))) == 1
}

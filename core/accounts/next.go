package accounts

import (
	"crypto/subtle"
	"errors"
	"slices"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Next parses a text that replaces the text from which l was parsed. An unchanged account stays the same object,
// because the protocol caches its settings there. A text without accounts is an error, so that a file emptied by
// mistake does not lock all clients out.
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

// Keep replaces each account that equals one of an earlier list by that earlier object, which carries the protocol's
// cached settings. It reports whether the lists are equal.
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

// same reports whether two accounts of one name have equal settings and keys.
func same(a, b *protocol.Account) bool {
	return a.Disabled == b.Disabled && a.HTTPS == b.HTTPS && a.Endpoint == b.Endpoint &&
		a.Shared == b.Shared && slices.Equal(a.Audiences, b.Audiences) &&
		slices.Equal(a.Firewall.Allow, b.Firewall.Allow) && slices.Equal(a.Firewall.Deny, b.Firewall.Deny) &&
		sameKey(a.Keys[0], b.Keys[0]) && sameKey(a.Keys[1], b.Keys[1])
}

// sameKey compares the signatures of two keys, because a Key does not reveal its bytes. Nil means that there is no
// key.
func sameKey(a, b *sharedkey.Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return subtle.ConstantTimeCompare([]byte(a.Sign("")), []byte(b.Sign(""))) == 1
}

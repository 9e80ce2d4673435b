package accounts

import (
	"crypto/subtle"
	"errors"
	"slices"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Next parses a new version of l. Unchanged accounts keep their Account object, whose keys record their use
// ([sharedkey.Key.MarkUsed]). A text without accounts is an error.
func (l List) Next(text string) (List, error) {
	next, err := Parse(text)
	if err != nil {
		return nil, errors.New("accounts: " + err.Error())
	}
	if len(next) == 0 {
		return nil, errors.New("accounts: the text names no account")
	}
	next.KeepUsage(l)
	return next, nil
}

// KeepUsage puts the Account objects of before into l where the accounts are equal, because their keys record their use
// ([sharedkey.Key.MarkUsed]). It reports whether the lists are equal.
func (l List) KeepUsage(old List) bool {
	kept := 0
	for name, was := range old {
		if is := l[name]; is != nil && same(was, is) {
			l[name] = was
			kept++
		}
	}
	return kept == len(l) && kept == len(old)
}

func same(a, b *protocol.Account) bool {
	return a.Disabled == b.Disabled && a.HTTPS == b.HTTPS && a.Endpoint == b.Endpoint &&
		a.Shared == b.Shared && slices.Equal(a.Audiences, b.Audiences) &&
		slices.Equal(a.Firewall.Allow, b.Firewall.Allow) && slices.Equal(a.Firewall.Deny, b.Firewall.Deny) &&
		sameKey(a.Keys[0], b.Keys[0]) && sameKey(a.Keys[1], b.Keys[1])
}

// sameKey reports whether two keys are equal. A Key does not reveal its bytes, so sameKey compares signatures. A nil
// key stands for a missing key.
func sameKey(a, b *sharedkey.Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return subtle.ConstantTimeCompare([]byte(a.Sign("")), []byte(b.Sign(""))) == 1
}

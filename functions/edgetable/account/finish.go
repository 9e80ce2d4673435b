package account

import (
	"fmt"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/admin"
)

// quiet is how long a key is not used before nobody needs it any more: clients that are
// up send a request in this time.
const quiet = 10 * time.Minute

// inUse says why the first key of an account must not be removed yet: clients still use
// it, or none of them has used the second key.
func (f *file) inUse(name string, info *admin.Info, now time.Time) error {
	noted := readLastUsed(usedFile(f.path))
	use := func(number int, k *sharedkey.Key) *time.Time {
		at := noted.of(k)
		if info == nil {
			return at
		}
		account, _ := info.Find(name)
		for _, one := range account.Keys {
			if one.Key == number && one.LastUsed != nil && (at == nil || one.LastUsed.After(*at)) {
				at = one.LastUsed
			}
		}
		return at
	}
	keys := f.list[name].Keys
	first, second := use(1, keys[0]), use(2, keys[1])
	switch {
	case second == nil:
		return fmt.Errorf("%s keeps both keys: key 1 was %s, and key 2 was never used: give it to the clients first; --force removes key 1 all the same", name, say(first))
	case first != nil && now.Sub(*first) < quiet:
		return fmt.Errorf("%s keeps both keys: key 1 was %s, less than %d minutes ago, and key 2 was %s: some client has not changed; --force removes key 1 all the same",
			name, say(first), int(quiet/time.Minute), say(second))
	}
	return nil
}

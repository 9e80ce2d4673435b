package account

import (
	"fmt"
	"time"

	"edgetable/functions/edgetable/admin"
)

// minUnused is how long a key must be unused before it may be removed. An active client is expected to use its key
// within this time.
const minUnused = 10 * time.Minute

const forceUsage = "remove a key although clients use it"

// keyUsed returns the time of the last use of a key, or nil if it was never used. It asks the running server and reads
// the file in which servers record last uses.
func (f *file) keyUsed(name string, i int, info *admin.Info) *time.Time {
	at := readLastUsed(usedFile(f.path)).timeOf(f.list[name].Keys[i])
	if info == nil {
		return at
	}
	account, _ := info.Find(name)
	for _, one := range account.Keys {
		if one.Key == i+1 && one.LastUsed != nil && (at == nil || one.LastUsed.After(*at)) {
			at = one.LastUsed
		}
	}
	return at
}

// accountInUse returns an error if a key of an account was used recently.
func (f *file) accountInUse(name string, info *admin.Info, now time.Time) error {
	for i, k := range f.list[name].Keys {
		if k == nil {
			continue
		}
		if at := f.keyUsed(name, i, info); at != nil && now.Sub(*at) < minUnused {
			return fmt.Errorf("%s was not removed: key %d was %s, less than %d minutes ago. --disable refuses the requests of the account and can be undone; --force removes the account anyway",
				name, i+1, say(at), int(minUnused/time.Minute))
		}
	}
	return nil
}

// inUse returns an error if the first key of an account must not be removed yet: clients still use this key, or no
// client has used the second key.
func (f *file) inUse(name string, info *admin.Info, now time.Time) error {
	first, second := f.keyUsed(name, 0, info), f.keyUsed(name, 1, info)
	switch {
	case second == nil:
		return fmt.Errorf("%s keeps both keys: key 1 was %s, and key 2 was never used. Give key 2 to the clients first, or remove key 1 anyway with --force", name, say(first))
	case first != nil && now.Sub(*first) < minUnused:
		return fmt.Errorf("%s keeps both keys, because some clients still use key 1. Key 1 was %s, less than %d minutes ago; key 2 was %s. --force removes key 1 anyway",
			name, say(first), int(minUnused/time.Minute), say(second))
	}
	return nil
}

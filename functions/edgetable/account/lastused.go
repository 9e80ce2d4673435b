package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"edgetable/adapters/objects/directory"
	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// lastUsed holds the time at which each key was last used, by the key's fingerprint.
type lastUsed map[string]time.Time

// usedFile returns the name of the file, next to a file of accounts, in which the server records when keys were last
// used.
func usedFile(accounts string) string { return accounts + ".used" }

// fingerprint identifies a key without revealing it.
func fingerprint(k *sharedkey.Key) string {
	sum := sha256.Sum256([]byte(k.Sign("fingerprint")))
	return hex.EncodeToString(sum[:8])
}

// readLastUsed reads what a server recorded. Unreadable entries count as unknown.
func readLastUsed(file string) lastUsed {
	u := lastUsed{}
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		key, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			u[key] = t
		}
	}
	return u
}

// update updates the map with the keys that were used since the last call, and reports whether there were any.
func (u lastUsed) update(list accounts.List, now time.Time) (changed bool) {
	for _, account := range list {
		for _, k := range account.Keys {
			if k != nil && k.TakeUsed() {
				u[fingerprint(k)] = now
				changed = true
			}
		}
	}
	return changed
}

// write writes the file, without keys that are no longer in the list.
func (u lastUsed) write(file string, list accounts.List) error {
	var b strings.Builder
	for _, account := range list {
		for _, k := range account.Keys {
			if k == nil {
				continue
			}
			if at, ok := u[fingerprint(k)]; ok {
				fmt.Fprintf(&b, "%s %s\n", fingerprint(k), at.UTC().Format(time.RFC3339))
			}
		}
	}
	return directory.Replace(file, []byte(b.String()), 0o600)
}

// of returns when a key was last used; nil if never.
func (u lastUsed) timeOf(k *sharedkey.Key) *time.Time {
	if at, ok := u[fingerprint(k)]; ok {
		return &at
	}
	return nil
}

// say formats the time of a last use for people.
func say(at *time.Time) string {
	if at == nil {
		return "never used"
	}
	return "last used " + at.UTC().Format(time.RFC3339)
}

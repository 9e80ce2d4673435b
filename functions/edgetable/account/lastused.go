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

// usedFile returns the name of the file in which a server records when keys were last used. It is in the same
// directory as the file of accounts.
func usedFile(accounts string) string { return accounts + ".used" }

// fingerprint identifies a key without revealing it.
func fingerprint(k *sharedkey.Key) string {
	sum := sha256.Sum256([]byte(k.Sign("fingerprint")))
	return hex.EncodeToString(sum[:8])
}

// readLastUsed reads the last uses that a server recorded in a file. It ignores invalid lines.
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

// update finds the keys that were used since its previous call, and sets their time of last use to the parameter now.
// It reports whether it found such keys.
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

// write writes the last uses of the keys in the list to a file. Other keys are omitted.
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

// timeOf returns the time at which a key was last used; nil if never.
func (u lastUsed) timeOf(k *sharedkey.Key) *time.Time {
	if at, ok := u[fingerprint(k)]; ok {
		return &at
	}
	return nil
}

func say(at *time.Time) string {
	if at == nil {
		return "never used"
	}
	return "last used " + at.UTC().Format(time.RFC3339)
}

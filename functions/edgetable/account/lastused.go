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

// lastUsed maps the fingerprints of keys to the times of their last use.
type lastUsed map[string]time.Time

// usedFile returns the name of the file with the last uses of keys, next to the accounts file.
func usedFile(accounts string) string { return accounts + ".used" }

// fingerprint identifies a key without revealing it.
func fingerprint(k *sharedkey.Key) string {
	sum := sha256.Sum256([]byte(k.Sign("fingerprint")))
	return hex.EncodeToString(sum[:8])
}

// readLastUsed reads recorded last uses, ignoring invalid lines.
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

// update sets the last use of each key that was used since the previous update to the given time. It reports whether
// there was such a key.
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

// write writes the last uses of the keys of the listed accounts to a file.
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

// timeOf returns the time of the last use of a key, or nil if it was never used.
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

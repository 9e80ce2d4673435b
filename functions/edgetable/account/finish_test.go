package account

import (
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/admin"
)

// TestInUse checks that the first key of an account may be removed if the second key was used and
// the first one was not used for ten minutes.
func TestInUse(t *testing.T) {
	t.Parallel()
	list, err := accounts.Parse("acme:" + newKey() + ":" + newKey())
	if err != nil {
		t.Fatal(err)
	}
	f := &file{path: t.TempDir() + "/accounts", list: list}
	now := time.Now()
	for _, tt := range []struct {
		first, second time.Duration // time since the last use of each key; 0 if it was never used
		free          bool
	}{{0, 0, false}, {time.Hour, 0, false}, {time.Minute, time.Minute, false}, {0, time.Minute, true}, {11 * time.Minute, time.Hour, true}} {
		info := &admin.Info{Accounts: []admin.Account{{Name: "acme"}}}
		for i, ago := range []time.Duration{tt.first, tt.second} {
			one := admin.Key{Key: i + 1}
			if ago > 0 {
				at := now.Add(-ago)
				one.LastUsed = &at
			}
			info.Accounts[0].Keys = append(info.Accounts[0].Keys, one)
		}
		if err := f.inUse("acme", info, now); (err == nil) != tt.free {
			t.Errorf("%v, %v: %v", tt.first, tt.second, err)
		}
	}
	if err := f.accountInUse("acme", nil, now); err != nil {
		t.Errorf("of keys that nobody used: %v", err)
	}
	recently := now.Add(-9 * time.Minute)
	info := &admin.Info{Accounts: []admin.Account{{Name: "acme", Keys: []admin.Key{{Key: 1}, {Key: 2, LastUsed: &recently}}}}}
	if err := f.accountInUse("acme", info, now); err == nil {
		t.Error("a used account may be removed")
	}
	used := lastUsed{fingerprint(list["acme"].Keys[0]): now.Add(-time.Hour), fingerprint(list["acme"].Keys[1]): now}
	if err := used.write(usedFile(f.path), list); err != nil {
		t.Fatal(err)
	}
	if err := f.inUse("acme", nil, now); err != nil {
		t.Errorf("by the file of a server that does not run: %v", err)
	}
}

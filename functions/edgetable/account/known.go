package account

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/reload"
)

// Known holds the accounts of a server. They are reloaded when the accounts file changes. If the file is invalid, the
// current accounts remain in use.
type Known struct {
	Source Source
	Refuse func(accounts.List) error // function that returns an error if the server must not serve the accounts
	Log    *slog.Logger

	Current atomic.Pointer[accounts.List]
	files   reload.Changes

	mu    sync.Mutex
	File  string // path of the accounts file; "" if the accounts are not from a file
	used  lastUsed
	noted time.Time
}

// Find implements protocol.Handler.Accounts.
func (k *Known) Find(name string) (*protocol.Account, bool) {
	return k.Current.Load().Find(name)
}

// WithoutAudience returns the names of the accounts that do not accept bearer tokens.
func (k *Known) WithoutAudience() (names []string) {
	list := *k.Current.Load()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if a := list[name]; a.Shared && len(a.Audiences) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// Load loads the accounts if their file has changed. It reports whether the new accounts differ from the previous ones.
func (k *Known) Load(asked bool) (changed bool, err error) {
	if !k.files.Due(reload.StampOf(k.Source.file), asked) {
		return false, nil
	}
	list, file, err := k.Source.read()
	if err != nil {
		return false, err
	}
	if err := k.Refuse(list); err != nil {
		return false, err
	}
	before := accounts.List{}
	if p := k.Current.Load(); p != nil {
		before = *p
	}
	changed = !list.KeepUsage(before)
	k.Current.Store(&list)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case file != "" && k.File == "":
		k.Source.optional = false // a missing file is now an error, so that removing it by mistake does not lock clients out
		k.used = readLastUsed(usedFile(file))
	case k.used == nil:
		k.used = lastUsed{}
	}
	k.File = file
	return changed, nil
}

// Reload is like Load, but logs errors. If the file is invalid, the current accounts remain in use.
func (k *Known) Reload(asked bool) {
	switch changed, err := k.Load(asked); {
	case err != nil:
		k.Log.Error("the accounts cannot be reloaded; the previous accounts stay in use", "cause", err)
	case changed:
		k.Log.Info("the accounts were reloaded", "accounts", len(*k.Current.Load()))
	}
	k.NoteUsed(usedEvery)
}

// usedEvery is the interval at which the last uses of keys are recorded.
const usedEvery = 10 * time.Second

// NoteUsed records which keys were used since its last record. It does nothing if the given interval has not passed
// since this record. If the accounts are from a file, NoteUsed writes the record to a second file next to the file of
// accounts.
func (k *Known) NoteUsed(every time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.noted) < every {
		return
	}
	k.noted = time.Now()
	list := *k.Current.Load()
	if !k.used.update(list, k.noted) || k.File == "" {
		return
	}
	if err := k.used.write(usedFile(k.File), list); err != nil {
		k.Log.Warn("'edgetable account list' does not know when keys were last used", "cause", err)
	}
}

// Describe returns a description of all accounts without their keys.
func (k *Known) Describe() *admin.Info {
	k.NoteUsed(0)
	k.mu.Lock()
	defer k.mu.Unlock()
	list := *k.Current.Load()
	info := &admin.Info{File: k.File}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		a := admin.Account{Name: name, Disabled: list[name].Disabled, File: k.File, Keys: []admin.Key{}}
		for i, key := range list[name].Keys {
			if key != nil {
				a.Keys = append(a.Keys, admin.Key{Key: i + 1, LastUsed: k.used.timeOf(key)})
			}
		}
		info.Accounts = append(info.Accounts, a)
	}
	return info
}

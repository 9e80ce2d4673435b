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

// Known are the accounts of a server. They are read again when their file
// changes, all or none of them.
type Known struct {
	Source Source
	Refuse func(accounts.List) error // of a list that the server must not serve
	Log    *slog.Logger

	Current atomic.Pointer[accounts.List]
	files   reload.Changes

	mu    sync.Mutex
	File  string // that they are from; "" for none
	used  lastUsed
	noted time.Time
}

// Find is protocol.Handler.Accounts.
func (k *Known) Find(name string) (*protocol.Account, bool) {
	return k.Current.Load().Find(name)
}

// WithoutAudience lists the accounts that accept no bearer tokens.
func (k *Known) WithoutAudience() (names []string) {
	list := *k.Current.Load()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if a := list[name]; a.Shared && len(a.Audiences) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// Load reads the accounts if their file has changed. It reports whether they have.
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
	changed = !list.Keep(before)
	k.Current.Store(&list)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case file != "" && k.File == "":
		k.Source.optional = false // a file that was removed by mistake must not lock all clients out
		k.used = readLastUsed(usedFile(file))
	case k.used == nil:
		k.used = lastUsed{}
	}
	k.File = file
	return changed, nil
}

// Reload reads a file that has changed. It keeps the accounts while the file is wrong.
func (k *Known) Reload(asked bool) {
	switch changed, err := k.Load(asked); {
	case err != nil:
		k.Log.Error("the accounts stay as they were", "cause", err)
	case changed:
		k.Log.Info("the accounts were read again", "accounts", len(*k.Current.Load()))
	}
	k.NoteUsed(usedEvery)
}

// usedEvery is how often it is noted which keys were used.
const usedEvery = 10 * time.Second

// NoteUsed notes which keys were used, unless it did so a short time ago. If the
// accounts are in a file, it notes them beside this file, else in memory.
func (k *Known) NoteUsed(every time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.noted) < every {
		return
	}
	k.noted = time.Now()
	list := *k.Current.Load()
	if !k.used.note(list, k.noted) || k.File == "" {
		return
	}
	if err := k.used.write(usedFile(k.File), list); err != nil {
		k.Log.Warn("'edgetable account list' does not know when keys were last used", "cause", err)
	}
}

// Describe tells of all accounts.
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
				a.Keys = append(a.Keys, admin.Key{Key: i + 1, LastUsed: k.used.of(key)})
			}
		}
		info.Accounts = append(info.Accounts, a)
	}
	return info
}

package main

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
)

// knownAccounts are the accounts of a server. They are read again when their file
// changes, all or none of them.
type knownAccounts struct {
	source accountSource
	refuse func(accounts.List) error // of a list that the server must not serve
	log    *slog.Logger

	current atomic.Pointer[accounts.List]
	files   changes

	mu    sync.Mutex
	file  string // that they are from; "" for none
	used  lastUsed
	noted time.Time
}

// Find is protocol.Handler.Accounts.
func (k *knownAccounts) Find(name string) (*protocol.Account, bool) {
	return k.current.Load().Find(name)
}

// load reads the accounts if their file has changed. It reports whether they have.
func (k *knownAccounts) load(asked bool) (changed bool, err error) {
	if !k.files.due(stampOf(k.source.file), asked) {
		return false, nil
	}
	list, file, err := k.source.read()
	if err != nil {
		return false, err
	}
	if err := k.refuse(list); err != nil {
		return false, err
	}
	before := accounts.List{}
	if p := k.current.Load(); p != nil {
		before = *p
	}
	changed = !list.Keep(before)
	k.current.Store(&list)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case file != "" && k.file == "":
		k.source.optional = false // a file that was removed by mistake must not lock all clients out
		k.used = readLastUsed(usedFile(file))
	case k.used == nil:
		k.used = lastUsed{}
	}
	k.file = file
	return changed, nil
}

// reload takes a file that has changed. While it is wrong the accounts stay.
func (k *knownAccounts) reload(asked bool) {
	switch changed, err := k.load(asked); {
	case err != nil:
		k.log.Error("the accounts stay as they were", "cause", err)
	case changed:
		k.log.Info("the accounts were read again", "accounts", len(*k.current.Load()))
	}
	k.noteUsed(usedEvery)
}

// usedEvery is how often it is noted which keys were used.
const usedEvery = 10 * time.Second

// noteUsed notes which keys were used, unless it did so a short time ago. If the
// accounts are in a file, it notes them beside this file, else in memory.
func (k *knownAccounts) noteUsed(every time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.noted) < every {
		return
	}
	k.noted = time.Now()
	list := *k.current.Load()
	if !k.used.note(list, k.noted) || k.file == "" {
		return
	}
	if err := k.used.write(usedFile(k.file), list); err != nil {
		k.log.Warn("'edgetable account list' does not know when keys were last used", "cause", err)
	}
}

// describe tells of all accounts.
func (k *knownAccounts) describe() *serverInfo {
	k.noteUsed(0)
	k.mu.Lock()
	defer k.mu.Unlock()
	list := *k.current.Load()
	info := &serverInfo{File: k.file}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		a := accountInfo{Name: name, Disabled: list[name].Disabled, File: k.file, Keys: []keyInfo{}}
		for i, key := range list[name].Keys {
			if key == nil {
				continue
			}
			one := keyInfo{Key: i + 1}
			if at, ok := k.used[fingerprint(key)]; ok {
				one.LastUsed = &at
			}
			a.Keys = append(a.Keys, one)
		}
		info.Accounts = append(info.Accounts, a)
	}
	return info
}

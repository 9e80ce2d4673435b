package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// The account of development tools: everybody knows its key.
const (
	devAccount = "devstoreaccount1"
	devKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// accountsVariable holds accounts as "name:key1[:key2];name:key1".
const accountsVariable = "EDGETABLE_ACCOUNTS"

// accounts are the accounts of a server by name.
type accounts map[string]*protocol.Account

// find is protocol.Handler.Accounts.
func (a accounts) find(name string) (*protocol.Account, bool) {
	account, ok := a[name]
	return account, ok
}

// loadAccounts takes the accounts from a file, else from the environment, else
// it is the development account alone.
func (p *program) loadAccounts(file string) (accounts, error) {
	source, text := "$"+accountsVariable, p.environment(accountsVariable)
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("-accounts: %w", err)
		}
		source, text = file, string(b)
	} else if text == "" {
		text = devAccount + ":" + devKey
	}
	list, err := parseAccounts(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no account", source)
	}
	return list, nil
}

// parseAccounts reads "name:key1[:key2]" entries between semicolons or line
// ends; a line that begins with # is a comment. Errors never repeat a key, nor
// what might be one in the wrong place.
func parseAccounts(text string) (accounts, error) {
	list, number := accounts{}, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for entry := range strings.SplitSeq(line, ";") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			number++
			account, err := parseAccount(entry)
			if err != nil {
				return nil, fmt.Errorf("account %d: %w", number, err)
			}
			if list[account.Name] != nil {
				return nil, fmt.Errorf("account %d: %s was given already", number, account.Name)
			}
			list[account.Name] = account
		}
	}
	return list, nil
}

func parseAccount(entry string) (*protocol.Account, error) {
	name, keys, ok := strings.Cut(entry, ":")
	name = strings.TrimSpace(name)
	if !ok || !accountName(name) {
		return nil, errors.New("write name:key or name:key1:key2, the name 3 to 24 lower-case letters and digits")
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: name}}
	for i, text := range strings.Split(keys, ":") {
		if i >= len(account.Keys) {
			return nil, fmt.Errorf("%s has more than two keys", name)
		}
		k, err := sharedkey.ParseKey(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("key %d of %s is not base64 (make one with: openssl rand -base64 64 | tr -d '\\n')", i+1, name)
		}
		account.Keys[i] = k
	}
	return account, nil
}

func accountName(s string) bool {
	if len(s) < 3 || len(s) > 24 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// warnIfShared warns of a file of accounts that every user of the machine can
// read.
func warnIfShared(log *slog.Logger, file string) {
	if file == "" || runtime.GOOS == "windows" { // which has no such bits
		return
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
		log.Warn("every user of this machine can read the account keys: chmod o-r", "file", file)
	}
}

// hasDevKey reports whether anybody can sign for one of the accounts.
func (a accounts) hasDevKey() bool {
	for _, account := range a {
		for _, k := range account.Keys {
			if isDevKey(k) {
				return true
			}
		}
	}
	return false
}

// isDevKey compares what keys do, as they do not tell what they are.
func isDevKey(k *sharedkey.Key) bool {
	known, err := sharedkey.ParseKey(devKey)
	if err != nil {
		panic("the development key is base64")
	}
	return k != nil && k.Sign("") == known.Sign("")
}

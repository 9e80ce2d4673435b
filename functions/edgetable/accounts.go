package main

import (
	"fmt"
	"os"
	"strings"

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
type accounts map[string]*sharedkey.Account

// find is protocol.Handler.Accounts.
func (a accounts) find(name string) (*sharedkey.Account, bool) {
	account, ok := a[name]
	return account, ok
}

// parseAccounts reads "name:key1[:key2]" entries between semicolons or line
// ends. Errors never repeat a key.
func parseAccounts(text string) (accounts, error) {
	list := accounts{}
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' || r == '\r' }) {
		entry = strings.TrimSpace(entry)
		if entry == "" || strings.HasPrefix(entry, "#") {
			continue
		}
		name, keys, ok := strings.Cut(entry, ":")
		if !ok || !accountName(name) {
			return nil, fmt.Errorf("an account is given as name:key or name:key1:key2, the name 3 to 24 lower-case letters and digits; not so the one that begins %q", name[:min(len(name), 24)])
		}
		if list[name] != nil {
			return nil, fmt.Errorf("account %s is given twice", name)
		}
		account := &sharedkey.Account{Name: name}
		for i, text := range strings.Split(keys, ":") {
			if i >= len(account.Keys) {
				return nil, fmt.Errorf("account %s has more than two keys", name)
			}
			k, err := sharedkey.ParseKey(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("key %d of account %s is not base64 (make one with: openssl rand -base64 64 | tr -d '\\n')", i+1, name)
			}
			account.Keys[i] = k
		}
		list[name] = account
	}
	return list, nil
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

// loadAccounts takes the accounts from a file, else from the environment, else
// it is the development account alone.
func (p *program) loadAccounts(file string) (accounts, error) {
	text := p.environment(accountsVariable)
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		if file != "" {
			return nil, fmt.Errorf("%s names no account", file)
		}
		text = devAccount + ":" + devKey
	}
	return parseAccounts(text)
}

// hasDevKey reports whether anybody can sign for one of the accounts.
func (a accounts) hasDevKey() bool {
	known, err := sharedkey.ParseKey(devKey)
	if err != nil {
		panic("the development key is base64")
	}
	probe := known.Sign("")
	for _, account := range a {
		for _, k := range account.Keys {
			if k != nil && k.Sign("") == probe {
				return true
			}
		}
	}
	return false
}

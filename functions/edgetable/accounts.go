package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"regexp"
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

// accountsVariable holds accounts as "name:key1[:key2];name:key1", each with
// options behind a blank.
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
		source, text = file, strings.TrimPrefix(string(b), "\ufeff") // some editors put it there
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

// parseAccounts reads entries between semicolons or line ends:
//
//	name:key1[:key2] [allow=10.0.0.0/8,192.0.2.7] [deny=10.9.0.0/16] [disabled]
//
// A line that begins with # is a comment. Errors never repeat a key, nor what
// might be one in the wrong place.
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
	entry, options := cutOptions(entry)
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
		text = strings.TrimSpace(text)
		if strings.Contains(text, " ") {
			return nil, fmt.Errorf("behind the keys of %s stands what is not understood: write allow=…, deny=… or disabled, and lists of addresses without blanks", name)
		}
		k, err := sharedkey.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("key %d of %s is not base64 (make one with: openssl rand -base64 64 | tr -d '\\n')", i+1, name)
		}
		account.Keys[i] = k
	}
	for _, o := range options {
		if err := setOption(account, o); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return account, nil
}

var accountOption = regexp.MustCompile(`^(allow|deny)=|^disabled$`)

// cutOptions separates the options, which stand at the end.
func cutOptions(entry string) (string, []string) {
	words := strings.Fields(entry)
	i := len(words)
	for i > 0 && accountOption.MatchString(words[i-1]) {
		i--
	}
	return strings.Join(words[:i], " "), words[i:]
}

// setOption sets what an option says. Addresses are no secrets.
func setOption(a *protocol.Account, option string) error {
	name, value, _ := strings.Cut(option, "=")
	if name == "disabled" {
		a.Disabled = true
		return nil
	}
	for text := range strings.SplitSeq(value, ",") {
		p, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%s=%q: write addresses or networks such as 192.0.2.7 or 10.0.0.0/8 with commas between them", name, text)
		}
		// An IPv4 address in IPv6 clothes is the IPv4 address: that is what is compared.
		if bits := p.Bits() - 96; p.Addr().Is4In6() && bits >= 0 {
			p = netip.PrefixFrom(p.Addr().Unmap(), bits)
		}
		if name == "allow" {
			a.Firewall.Allow = append(a.Firewall.Allow, p.Masked())
		} else {
			a.Firewall.Deny = append(a.Firewall.Deny, p.Masked())
		}
	}
	return nil
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

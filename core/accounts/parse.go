package accounts

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Variable is the environment variable that lists the accounts in the syntax of [Parse].
const Variable = "EDGETABLE_ACCOUNTS"

// Development is the name of the account that development tools use, and DevelopmentKey is its public key.
const (
	Development    = "devstoreaccount1"
	DevelopmentKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// List maps names to accounts.
type List map[string]*protocol.Account

// Find implements [protocol.Handler].Accounts.
func (l List) Find(name string) (*protocol.Account, bool) {
	account, ok := l[name]
	return account, ok
}

// Parse parses entries that are separated by semicolons or line ends:
//
//	name:key1[:key2] [allow=10.0.0.0/8,192.0.2.7] [deny=10.9.0.0/16] [audience=https://acme.example] [endpoint=https://tables.example/acme] [https] [disabled]
//
// A line that begins with # is a comment. Keys shorter than LeastKey are rejected. Errors never contain a key, nor a
// word that may be a misplaced key.
//
// Package fmt is avoided, because it would add package os to WebAssembly modules.
func Parse(text string) (List, error) { return parse(text, LeastKey) }

// ParseWeak is like Parse, but for test accounts such as Azurite's: keys may be short, and names may contain hyphens.
func ParseWeak(text string) (List, error) { return parse(text, 1) }

func parse(text string, leastKey int) (List, error) {
	list, number := List{}, 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for entry := range strings.SplitSeq(line, ";") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			account, err := parseAccount(entry, leastKey)
			if err == nil && list[account.Name] != nil {
				err = errors.New(account.Name + " is there already")
			}
			if err != nil {
				return nil, errors.New("line " + strconv.Itoa(number) + ": " + err.Error())
			}
			list[account.Name] = account
		}
	}
	for _, account := range list {
		account.Shared = len(list) > 1
	}
	return list, nil
}

// LeastKey is the minimum length of a safe key in bytes (256 bits).
const LeastKey = 32

func parseAccount(entry string, leastKey int) (*protocol.Account, error) {
	entry, options := cutOptions(entry)
	name, keys, ok := strings.Cut(entry, ":")
	name = strings.TrimSpace(name)
	checked := name
	if leastKey < LeastKey {
		checked = strings.ReplaceAll(name, "-", "")
	}
	if !ok || CheckName(checked) != nil {
		return nil, errors.New("write name:key or name:key1:key2, where name has 3 to 24 lower-case letters and digits")
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: name}}
	for i, text := range strings.Split(keys, ":") {
		if i >= len(account.Keys) {
			return nil, errors.New(name + " has more than two keys")
		}
		text = strings.TrimSpace(text)
		if strings.Contains(text, " ") {
			return nil, errors.New("an option of " + name + " is unknown: write allow=…, deny=…, audience=…, endpoint=…, https or disabled after the keys, and write lists without spaces")
		}
		k, err := sharedkey.ParseKey(text)
		key := "key " + strconv.Itoa(i+1) + " of " + name
		switch {
		case err != nil:
			return nil, errors.New(key + " is not base64 (make one with: openssl rand -base64 64 | tr -d '\\n')")
		case k.Size() < leastKey:
			return nil, errors.New(key + " has " + strconv.Itoa(k.Size()) + " bytes, but needs at least " + strconv.Itoa(LeastKey) + " (make one with: openssl rand -base64 64 | tr -d '\\n')")
		}
		account.Keys[i] = k
	}
	for _, o := range options {
		if err := setOption(account, o); err != nil {
			return nil, errors.New(name + ": " + err.Error())
		}
	}
	return account, nil
}

func cutOptions(entry string) (string, []string) {
	words := strings.Fields(entry)
	i := len(words)
	for i > 0 && isOption(words[i-1]) {
		i--
	}
	return strings.Join(words[:i], " "), words[i:]
}

func isOption(word string) bool {
	return word == "disabled" || word == "https" || strings.HasPrefix(word, "allow=") || strings.HasPrefix(word, "deny=") || strings.HasPrefix(word, "audience=") || strings.HasPrefix(word, "endpoint=")
}

// setOption applies one option to the account. Its errors may contain addresses, which are not secret.
func setOption(a *protocol.Account, option string) error {
	name, value, _ := strings.Cut(option, "=")
	if option == "disabled" {
		a.Disabled = true
		return nil
	}
	if name == "endpoint" {
		a.Endpoint = value
		return nil
	}
	if option == "https" {
		a.HTTPS = true
		return nil
	}
	if name == "audience" {
		for one := range strings.SplitSeq(value, ",") {
			if one == "" {
				return errors.New("audience=" + strconv.Quote(value) + ": write the aud values of the tokens for this account, separated by commas")
			}
			a.Audiences = append(a.Audiences, one)
		}
		return nil
	}
	for text := range strings.SplitSeq(value, ",") {
		p, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return errors.New(name + "=" + strconv.Quote(text) + ": write addresses or networks such as 192.0.2.7 or 10.0.0.0/8, separated by commas")
		}
		// Package firewall compares an IPv4-mapped IPv6 address as IPv4, so store a network of such addresses as an
		// IPv4 network.
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

// CheckName returns an error if s is not a valid account name.
func CheckName(s string) error {
	wrong := len(s) < 3 || len(s) > 24
	for _, c := range []byte(s) {
		wrong = wrong || (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}
	if wrong {
		return errors.New("the name of an account has 3 to 24 lower-case letters and digits")
	}
	return nil
}

// HasDevelopmentKey reports whether an account has the public development key, with which anybody can sign requests.
func (l List) HasDevelopmentKey() bool {
	for _, account := range l {
		if slices.ContainsFunc(account.Keys[:], IsDevelopmentKey) {
			return true
		}
	}
	return false
}

// IsDevelopmentKey reports whether k is the public development key. k may be nil.
func IsDevelopmentKey(k *sharedkey.Key) bool {
	known, err := sharedkey.ParseKey(DevelopmentKey)
	if err != nil {
		panic("the development key is base64")
	}
	return sameKey(k, known)
}

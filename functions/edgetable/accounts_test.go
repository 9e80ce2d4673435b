package main

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Keys of tests: base64 of 32 bytes each.
const (
	key1 = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgMTI="
	key2 = "c2Vjb25kIHNlY29uZCBzZWNvbmQgc2Vjb25kIDEyMzQ="
	key3 = "dGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgMTI="
)

func TestParseAccounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, names, why string }{
		{"acme:" + key1, "acme", "one account with one key"},
		{"acme:" + key1 + ":" + key2, "acme", "with two"},
		{"acme:" + key1 + ";beta:" + key2 + ";", "acme beta", "between semicolons"},
		{"acme:" + key1 + "\r\nbeta:" + key2 + "\n", "acme beta", "on lines"},
		{" acme : " + key1 + " : " + key2 + " ", "acme", "blanks around everything"},
		{"# beta:" + key1 + ";gamma:" + key1 + "\n  # and so on\nacme:" + key1, "acme", "a comment goes to the end of its line"},
		{"", "", "nothing"},
		{"acme:" + key1 + " allow=10.0.0.0/8,2001:db8::1 deny=10.9.0.0/16 disabled", "acme", "options"},
		{"acme : " + key1 + " disabled;beta:" + key2, "acme beta", "options of one"},
	} {
		list, err := parseAccounts(tt.text)
		if got := strings.Join(slices.Sorted(maps.Keys(list)), " "); err != nil || got != tt.names {
			t.Errorf("%s: %q, %v", tt.why, got, err)
		}
	}
	for _, tt := range []struct{ text, say, why string }{
		{key1, "account 1: write name:key", "a key alone"},
		{"acme=" + key1, "account 1: write name:key", "the wrong sign"},
		{"acme:" + key1 + ";" + key2 + ":beta", "account 2: write name:key", "the key in front"},
		{"Acme:" + key1, "lower-case", "upper case"},
		{"ac:" + key1, "3 to 24", "a short name"},
		{"acme:" + key1 + ":" + key2 + ":" + key3, "more than two", "three keys"},
		{"acme:" + key1 + "\nacme:" + key2, "account 2: acme was given already", "an account twice"},
		{"acme:" + key1[:20] + "!", "key 1 of acme is not base64", "a broken key"},
		{"acme:" + key1 + ":", "key 2 of acme is not base64", "an empty second key"},
		{"acme:" + key1 + " allow=10.0.0.0/33", "10.0.0.0/33", "a network that is none"},
		{"acme:" + key1 + " deny=", "write addresses or networks", "no network"},
		{"acme:" + key1 + " open", "write allow=…, deny=… or disabled", "an unknown option"},
		{"acme:" + key1 + ":" + key2 + " alow=10.0.0.0/8 disabled", "behind the keys of acme", "a misspelt option between others"},
		{"acme:" + key1 + " allow=10.0.0.0/8, 192.0.2.7", "without blanks", "a blank in a list"},
		{"acme:", "key 1 of acme is not base64", "an empty key"},
	} {
		list, err := parseAccounts(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.say) || list != nil {
			t.Errorf("%s: %v, %v, want %q", tt.why, list, err, tt.say)
			continue
		}
		for _, key := range []string{key1, key2, key3} {
			if strings.Contains(err.Error(), key[:8]) {
				t.Errorf("%s: the error shows a key: %v", tt.why, err)
			}
		}
	}
}

// A network is what it is, however it is written.
func TestAccountNetworks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ network, address, why string }{
		{"192.0.2.7", "192.0.2.7", "an address"},
		{"192.0.2.99/24", "192.0.2.7", "a network by one of its addresses"},
		{"::ffff:192.0.2.7", "192.0.2.7", "an IPv4 address as IPv6 shows it"},
		{"::ffff:192.0.2.0/120", "192.0.2.7", "an IPv4 network as IPv6 shows it"},
		{"::ffff:0:0/96", "192.0.2.7", "all of IPv4"},
		{"192.0.2.7", "::ffff:192.0.2.7", "the other way round"},
		{"2001:db8::/32", "2001:db8::7", "IPv6"},
	} {
		list, err := parseAccounts("acme:" + key1 + " deny=" + tt.network)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if list["acme"].Firewall.Admits(netip.MustParseAddr(tt.address)) {
			t.Errorf("%s: deny=%s admits %s", tt.why, tt.network, tt.address)
		}
	}
}

// Each key of an account opens it, and no other does.
func TestAccounts(t *testing.T) {
	t.Parallel()
	text := "acme:" + key1 + ":" + key2 + "\nbeta:" + key3 + "\n"
	private, public := filepath.Join(t.TempDir(), "private"), filepath.Join(t.TempDir(), "public")
	for file, mode := range map[string]os.FileMode{private: 0o600, public: 0o644} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
		warn bool
	}{
		{"environment", map[string]string{accountsVariable: text}, nil, false},
		{"file", map[string]string{accountsVariable: "other:" + key1}, []string{"-accounts", private}, false},
		{"file that all may read", nil, []string{"-accounts", public}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.env, append(tt.args, "-memory")...)
			s.client(t, key1).fill(t)
			s.client(t, key2).filled(t)
			s.client(t, key3).do(t, "GET", "/Tables", "", 403)
			endpoint := s.said(t, "Account beta\n  endpoint")
			newClient(t, endpoint, "beta", key3).do(t, "GET", ada, "", 404)
			newClient(t, endpoint, "beta", key1).do(t, "GET", "/Tables", "", 403)
			newClient(t, endpoint, "acme", key1).do(t, "GET", "/Tables", "", 403)
			newClient(t, strings.Replace(endpoint, "beta", "other", 1), "other", key1).do(t, "GET", "/Tables", "", 404)
			s.ends(t)
			if got := strings.Contains(s.logs.String(), "chmod"); got != tt.warn {
				t.Errorf("warns of the file: %t\n%s", got, s.logs)
			}
			if strings.Index(s.greeting, "Account acme") > strings.Index(s.greeting, "Account beta") || strings.Contains(s.greeting, devAccount) {
				t.Errorf("greeting:\n%s", s.greeting)
			}
			for _, key := range []string{key1, key2, key3} {
				if strings.Contains(s.greeting, key) || strings.Contains(s.logs.String(), key) {
					t.Errorf("a key is shown:\n%s%s", s.greeting, s.logs)
				}
			}
		})
	}
}

// The development account is for this machine, whatever name its key goes by.
func TestDevelopmentAccount(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"": "", "own name, second key": "acme:" + key1 + ":" + devKey} {
		status, _, said := run(t, map[string]string{accountsVariable: text}, "serve", "-memory", "-listen", "0.0.0.0:0")
		if status != 1 || !strings.Contains(said, "-allow-development-account") {
			t.Errorf("%s: status %d: %s", name, status, said)
		}
	}
	s := start(t, nil, "-memory", "-listen", "0.0.0.0:0", "-allow-development-account")
	s.client(t, "").fill(t)
	if !strings.Contains(s.logs.String(), "development account") {
		t.Errorf("no warning: %s", s.logs)
	}
	// With a key of its own in front, the account is like any other.
	s = start(t, map[string]string{accountsVariable: devAccount + ":" + key1 + ";acme:" + devKey}, "-memory")
	if strings.Contains(s.greeting, devKey) || strings.Contains(s.greeting, "Authorization") {
		t.Errorf("greeting:\n%s", s.greeting)
	}
}

// Some editors put a byte order mark in front of a file.
func TestAccountsFileWithMark(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "accounts")
	if err := os.WriteFile(file, []byte("\ufeffacme:"+key1+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, nil, "-memory", "-accounts", file)
	s.client(t, key1).fill(t)
}

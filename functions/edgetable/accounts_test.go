package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/accounts"
)

// These keys for the tests are base64 of 32 bytes each.
const (
	key1 = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgMTI="
	key2 = "c2Vjb25kIHNlY29uZCBzZWNvbmQgc2Vjb25kIDEyMzQ="
	key3 = "dGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgMTI="
)

// TestAccounts checks that each key of an account gives access to the account, and that no other
// key gives access.
func TestAccounts(t *testing.T) {
	t.Parallel()
	text := "acme:" + key1 + ":" + key2 + "\nbeta:" + key3 + "\n"
	private := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(private, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
	}{
		{"environment", map[string]string{accounts.Variable: text}, nil},
		{"file", map[string]string{accounts.Variable: "other:" + key1}, []string{"--accounts", private}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.env, append(tt.args, "--memory")...)
			s.client(t, key1).fill(t)
			s.client(t, key2).filled(t)
			s.client(t, key3).do(t, "GET", "/Tables", "", 403)
			endpoint := s.greetingText(t, "Account beta\n  endpoint")
			newClient(t, endpoint, "beta", key3).do(t, "GET", ada, "", 404)
			newClient(t, endpoint, "beta", key1).do(t, "GET", "/Tables", "", 403)
			newClient(t, endpoint, "acme", key1).do(t, "GET", "/Tables", "", 403)
			newClient(t, strings.Replace(endpoint, "beta", "other", 1), "other", key1).do(t, "GET", "/Tables", "", 404)
			s.ends(t)
			if strings.Index(s.greeting, "Account acme") > strings.Index(s.greeting, "Account beta") || strings.Contains(s.greeting, accounts.Development) {
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

// TestDevelopmentAccount checks that the public development key is accepted only on loopback
// addresses. This also holds for an account with another name that has this key.
func TestDevelopmentAccount(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"": "", "own name, second key": "acme:" + key1 + ":" + accounts.DevelopmentKey} {
		status, _, said := run(t, map[string]string{accounts.Variable: text}, "serve", "--memory", "--listen", "0.0.0.0:0")
		if status != 1 || !strings.Contains(said, "--allow-development-account") {
			t.Errorf("%s: status %d: %s", name, status, said)
		}
	}
	s := start(t, nil, "--memory", "--listen", "0.0.0.0:0", "--allow-development-account")
	s.client(t, "").fill(t)
	if !strings.Contains(s.logs.String(), "development account") {
		t.Errorf("no warning: %s", s.logs)
	}
	// The greeting shows the public development key. If the first key of the development account is
	// another key, the greeting must show no key.
	s = start(t, map[string]string{accounts.Variable: accounts.Development + ":" + key1 + ";acme:" + accounts.DevelopmentKey}, "--memory")
	if strings.Contains(s.greeting, accounts.DevelopmentKey) || strings.Contains(s.greeting, "Authorization") {
		t.Errorf("greeting:\n%s", s.greeting)
	}
}

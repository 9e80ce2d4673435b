package sas_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// recorded returns the tokens in testdata/*.txt, which the service's clients made.
func recorded(t testing.TB) (names, queries []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded tokens: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(f)
		for s.Scan() {
			if line, query, ok := strings.Cut(s.Text(), "\t"); ok && !strings.HasPrefix(line, "#") {
				names = append(names, filepath.Base(name)+" "+line)
				queries = append(queries, query)
			}
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return names, queries
}

// TestClients checks that Verify accepts tokens of real clients, and refuses them after a change of any parameter.
func TestClients(t *testing.T) {
	t.Parallel()
	names, queries := recorded(t)
	for i, query := range queries {
		t.Run(names[i], func(t *testing.T) {
			t.Parallel()
			a, c := emulator(t), inside(t)
			expiry := at(t, "2040-01-01")
			c.Policy = func(id string) (*sas.Policy, error) {
				if id != "my policy/1=" {
					return nil, nil
				}
				return &sas.Policy{ID: id, Expiry: &expiry, Permissions: "raud"}, nil
			}
			g, err := verify(t, query, a, c)
			if err != nil {
				t.Fatal(err)
			}
			op := sas.QueryEntities
			if err := g.Allow(op, "mytable"); err != nil {
				t.Error(err)
			}
			if strings.Contains(query, "spk=") && strings.Contains(query, "srk=") {
				if err := g.AllowEntity("a b+c", "1&1"); codeOf(err) != table.AuthorizationFailure {
					t.Errorf("below the range: %v", err)
				}
				if err := g.AllowEntity("a b+c", "1&2"); err != nil {
					t.Errorf("the first of the range: %v", err)
				}
			}
			pairs := strings.Split(query, "&")
			for j, pair := range pairs {
				name, value, _ := strings.Cut(pair, "=")
				for what, other := range map[string]string{
					"one more character": pair + "0",
					"one less character": name + "=" + value[:len(value)-1],
					"other":              name + "=r",
					"twice":              pair + "&" + pair,
					"nothing":            "",
				} {
					if other == pair {
						continue
					}
					changed := append([]string(nil), pairs...)
					changed[j] = other
					if _, err := verify(t, strings.Join(changed, "&"), a, c); codeOf(err) != table.AuthenticationFailed && !(name == "sig" && other == "") {
						t.Errorf("%s: %s: %v", name, what, err)
					}
				}
			}
		})
	}
}

// verify parses and verifies a token. For a query without a signature it returns NoAuthenticationInformation.
func verify(t testing.TB, query string, a *sharedkey.Account, c sas.Context) (*sas.Grant, error) {
	t.Helper()
	token, err := sas.Parse(query)
	if err != nil {
		return nil, err
	}
	if token == nil {
		return nil, table.NoAuthenticationInformation.Err()
	}
	return token.Verify(a, c)
}

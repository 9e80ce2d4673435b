package accounts_test

import (
	"strings"
	"testing"

	"edgetable/core/accounts"
)

// TestNext checks that an unchanged account keeps its object when other accounts
// change.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		same bool
		why  string
	}{
		{"acme:" + key1 + ";beta:" + key3, true, "another account has a new key"},
		{" acme : " + key1 + ";beta:" + key2, true, "it is written otherwise"},
		{"acme:" + key1, false, "the server has no other account now, so that any token is for it"},
		{"acme:" + key1 + " audience=tables;beta:" + key2, false, "its tokens need an audience"},
		{"acme:" + key1 + " disabled", false, "it was disabled"},
		{"acme:" + key1 + ":" + key2, false, "it got a second key"},
		{"acme:" + key1 + " allow=10.0.0.0/8", false, "it got a firewall"},
		{"acme:" + key2, false, "its key was replaced"},
	} {
		before, err := accounts.List(nil).Next("acme:" + key1 + ";beta:" + key2)
		if err != nil {
			t.Fatal(err)
		}
		after, err := before.Next(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := after["acme"] == before["acme"]; got != tt.same {
			t.Errorf("the same account: %t, but %s", got, tt.why)
		}
		if _, ok := after.Find("beta"); ok != strings.Contains(tt.text, "beta") {
			t.Errorf("beta: %t, but %s", ok, tt.why)
		}
	}
	for _, text := range []string{"", "# acme:" + key1, "acme=" + key1} {
		if list, err := accounts.List(nil).Next(text); err == nil || list != nil || strings.Contains(err.Error(), key1[:8]) {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
}

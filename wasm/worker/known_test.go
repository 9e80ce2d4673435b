package main

import (
	"strings"
	"testing"
)

// TestSettingsOfIsolate checks that one instance caches the settings of accounts for all instances of the isolate, up
// to a maximum number of accounts.
func TestSettingsOfIsolate(t *testing.T) {
	t.Parallel()
	var memory isolate
	c := &config{buckets: 1}
	here := settingsOf(func(q []byte) []byte { return memory.answer(c, q) })
	there := settingsOf(func(q []byte) []byte { return memory.answer(c, q) })
	expect := func(account, stored string, at int, known bool) {
		t.Helper()
		got, when, ok := there.Recall(account)
		if string(got) != stored || int(when) != at || ok != known {
			t.Errorf("%s: %q of %d, %t", account, got, when, ok)
		}
	}
	expect("acme", "", 0, false)
	here.Keep("acme", []byte("<xml/>"), 5)
	here.Keep("none", nil, 6)
	expect("acme", "<xml/>", 5, true)
	expect("none", "", 6, true)
	here.Forget("acme", 7)
	expect("acme", "", 0, false)
	here.Keep("acme", []byte("<old/>"), 7) // Keep has no effect, because these settings were read before Forget reported a change at the same time
	expect("acme", "", 0, false)
	here.Keep("acme", []byte("<new/>"), 8)
	expect("acme", "<new/>", 8, true)
	here.Keep("large", []byte(strings.Repeat("x", maxSettings+1)), 7)
	expect("large", "", 0, false)
	for range 3 * maxAccounts {
		here.Keep(strings.Repeat("a", len(memory.settings)), nil, 8)
	}
	if len(memory.settings) > maxAccounts {
		t.Errorf("%d accounts are remembered", len(memory.settings))
	}
}

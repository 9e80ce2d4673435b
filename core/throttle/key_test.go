package throttle_test

import (
	"strings"
	"testing"

	"edgetable/core/throttle"
)

// TestKey checks that the keys of token buckets are short, and different for
// different names, even for long names.
func TestKey(t *testing.T) {
	t.Parallel()
	if got := throttle.Key("acme/people/p"); got != "acme/people/p" {
		t.Errorf("a short name became %q", got)
	}
	long := "acme/people/" + strings.Repeat("p", 4<<20)
	seen := map[string]bool{}
	for _, name := range []string{long, long + "q", "q" + long, long[:129], long[:128], "acme/" + long} {
		k := throttle.Key(name)
		if len(k) > 128 || seen[k] || k[:24] != name[:24] {
			t.Errorf("a name of %d bytes: key of %d bytes, seen before %t, %q", len(name), len(k), seen[k], k[:24])
		}
		seen[k] = true
	}
}

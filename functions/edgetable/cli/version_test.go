package cli

import "testing"

// TestReleaseOf checks that a version recorded by Go is converted to the version that 'make dist'
// gives to the same commit; see TestVersions in .ci/dist.
func TestReleaseOf(t *testing.T) {
	for module, want := range map[string]string{
		"v1.2.3":                               "1.2.3",
		"v1.2.3+dirty":                         "1.2.3",
		"v1.2.4-0.20261124102352-0a3c1608db47": "1.2.4-git1795515832",
		"v0.0.0-20261124102352-0a3c1608db47+dirty": "0.0.1-git1795515832",
		"v1.3.0-0.20261399102352-0a3c1608db47":     "1.3.0-0.20261399102352-0a3c1608db47",
		"(devel)":                                  "devel",
		"":                                         "devel",
	} {
		if got := releaseOf(module); got != want {
			t.Errorf("%q is %q, want %q", module, got, want)
		}
	}
}

package wide_test

import (
	"testing"

	"edgetable/functions/edgetable/wide"
)

func TestWide(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		takes  int
		cut, p string // the text cut to five columns, and padded to six
	}{
		{"", 0, "", "      "},
		{"abcde", 5, "abcde", "abcde "},
		{"äöüÄÖÜ", 6, "äöüÄ…", "äöüÄÖÜ"},
		{"日本語", 6, "日本…", "日本語"},
		{"a日本", 5, "a日本", "a日本 "},
		{"日本", 4, "日本", "日本  "},
		{"a日本語", 7, "a日…", "a日本語"}, // only one of the two columns of a wide character is left
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301   "},
		{"👍👍👍", 6, "👍👍…", "👍👍👍"},
	} {
		if n := wide.Of(tt.text); n != tt.takes {
			t.Errorf("%q takes %d columns", tt.text, n)
		}
		if got := wide.Cut(tt.text, 5); got != tt.cut {
			t.Errorf("%q is cut to %q", tt.text, got)
		}
		if got := wide.Pad(tt.text, 6); got != tt.p {
			t.Errorf("%q is filled to %q", tt.text, got)
		}
	}
	if got := wide.Cut("日", 1); got != "…" {
		t.Errorf("%q", got)
	}
}

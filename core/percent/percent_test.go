package percent_test

import (
	"net/url"
	"testing"

	"edgetable/core/percent"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s           string
		path, query string
		ok          bool
		why         string
	}{
		{"", "", "", true, "nothing"},
		{"plain", "plain", "plain", true, "no escape"},
		{"a%20b", "a b", "a b", true, "an escape"},
		{"%2f%2F", "//", "//", true, "digits in both cases"},
		{"a+b", "a+b", "a b", true, "plus is a blank in a query alone"},
		{"%2B", "+", "+", true, "an escaped plus is a plus"},
		{"%2525", "%25", "%25", true, "decoded once"},
		{"%C3%A9", "é", "é", true, "UTF-8"},
		{"%ff%00", "\xff\x00", "\xff\x00", true, "any byte"},
		{"%", "", "", false, "cut off"},
		{"a%2", "", "", false, "cut off in the middle"},
		{"%2g", "", "", false, "no digit"},
		{"%g2", "", "", false, "no digit either"},
		{"%%20", "", "", false, "a percent sign for a digit"},
		{"%@0", "", "", false, "a character near the letters"},
		{"%`0", "", "", false, "another"},
		{"%:0", "", "", false, "one near the digits"},
	} {
		for _, query := range []bool{false, true} {
			want := tt.path
			if query {
				want = tt.query
			}
			if got, ok := percent.Decode(tt.s, query); got != want || ok != tt.ok {
				t.Errorf("%s: %q: got %q, %t", tt.why, tt.s, got, ok)
			}
		}
	}
}

// TestEscaped checks that every escaped byte decodes to itself, both with this package and with net/url.
func TestEscaped(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		s := string([]byte{byte(c)})
		escaped := string(percent.AppendEscaped(nil, s))
		if got, ok := percent.Decode(escaped, true); got != s || !ok {
			t.Errorf("%q is written %q and read %q", s, escaped, got)
		}
		if got, err := url.QueryUnescape(escaped); got != s || err != nil {
			t.Errorf("%q is written %q, which net/url reads as %q, %v", s, escaped, got, err)
		}
	}
	if got := string(percent.AppendEscaped([]byte("x="), "aZ09-._~ é'")); got != "x=aZ09-._~%20%C3%A9%27" {
		t.Errorf("got %s", got)
	}
}

func TestDecodeAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { percent.Decode("no-escape-here", true) }); n != 0 {
		t.Errorf("%v allocations without an escape", n)
	}
}

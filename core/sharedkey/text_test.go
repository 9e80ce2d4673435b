package sharedkey_test

import (
	"fmt"
	"testing"

	"edgetable/core/sharedkey"
)

// TestAppendEscaped checks that everything but printable ASCII is escaped. A truncated text must end with dots.
func TestAppendEscaped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 3, ""},
		{"az ~!", 10, "az ~!"},
		{"a\nb\rc\td", 20, `a\nb\rc\td`},
		{`say "\"`, 20, `say \"\\\"`},
		{"\x00\x1f\x7f\xff", 20, `\x00\x1f\x7f\xff`},
		{"abcde", 7, "abcde"},
		{"abcde", 6, "abc..."},
		{"abcdef", 5, "ab..."},
		{"abc\n", 6, `abc\n`},
		{"abc\n", 4, "a..."},
		{"a\x01", 5, `a\x01`},
		{"a\x01", 4, "a..."},
		{"a\x01b", 8, `a\x01b`},
		{"a\x01bc", 6, "a..."},
	} {
		if got := string(sharedkey.AppendEscaped([]byte(">"), tt.text, tt.limit)); got != ">"+tt.want {
			t.Errorf("%q in %d bytes is %q, want %q", tt.text, tt.limit, got, ">"+tt.want)
		}
	}
}

// TestNames checks the names of authorization schemes, and the texts for reasons of a refusal. Logs contain these names
// and texts.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[fmt.Stringer]string{
		sharedkey.SharedKey: "SharedKey", sharedkey.SharedKeyLite: "SharedKeyLite", sharedkey.Scheme(0): "unknown scheme",
	} {
		if got := name.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for reason, want := range map[sharedkey.Reason]string{
		sharedkey.Malformed: "malformed authorization header", sharedkey.NoDate: "no date", sharedkey.BadDate: "unreadable date",
		sharedkey.Skewed: "date outside the allowed skew", sharedkey.Mismatch: "signature mismatch", 77: "reason 77",
	} {
		if got := reason.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	cred := parse(t, "SharedKey ac~t:c2~ln")
	if got := cred.GoString(); got != "SharedKey ac~t:(withheld)" || cred.String() != got {
		t.Errorf("a credential prints as %q", got)
	}
	if got := key(t, "c2VjcmV0").Size(); got != len("secret") {
		t.Errorf("a key of %d bytes", got)
	}
}

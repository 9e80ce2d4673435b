package multipart_test

import (
	"errors"
	"strings"
	"testing"

	mp "edgetable/core/multipart"
)

func TestBoundary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, contentType, want string }{
		{"plain", "multipart/mixed; boundary=batch_1", "batch_1"},
		{"without blank, any case", "Multipart/Mixed;BOUNDARY=batch_1", "batch_1"},
		{"quoted", `multipart/mixed; boundary="batch_1"`, "batch_1"},
		{"quoted with semicolon, blank and escapes", `multipart/mixed; boundary="a; b\"c\\d"`, `a; b"c\d`},
		{"after another parameter, as legacy Node sends it", `multipart/mixed; charset="utf-8"; boundary=batch_9f`, "batch_9f"},
		{"before another parameter", "multipart/mixed; boundary=batch_9f ;charset=utf-8", "batch_9f"},
		{"word within a quoted parameter", `multipart/mixed; x="; boundary=no"; boundary=yes`, "yes"},
		{"parentheses bare, as WCF sends them", "multipart/mixed; boundary=batch(36522ad7-fc75)", "batch(36522ad7-fc75)"},
		{"equals sign in a bare value", "multipart/mixed; boundary=a=b", "a=b"},
		{"empty parameters", "multipart/mixed;; boundary=b;", "b"},
		{"blanks around the equals sign", "multipart/mixed; boundary = b", "b"},
		{"longest", "multipart/mixed; boundary=" + strings.Repeat("x", 200), strings.Repeat("x", 200)},

		{"no content type", "", ""},
		{"another type", "application/json; boundary=b", ""},
		{"another multipart type", "multipart/form-data; boundary=b", ""},
		{"no boundary", "multipart/mixed", ""},
		{"no boundary but parameters", "multipart/mixed; charset=utf-8; xboundary=b", ""},
		{"empty boundary", "multipart/mixed; boundary=", ""},
		{"empty quoted boundary", `multipart/mixed; boundary=""`, ""},
		{"no closing quote", `multipart/mixed; boundary="b`, ""},
		{"text after the closing quote", `multipart/mixed; boundary="b"c`, ""},
		{"parameter without value", "multipart/mixed; boundary", ""},
		{"blank at the end", `multipart/mixed; boundary="b "`, ""},
		{"line end", "multipart/mixed; boundary=a\nb", ""},
		{"not ASCII", "multipart/mixed; boundary=é", ""},
		{"too long", "multipart/mixed; boundary=" + strings.Repeat("x", 201), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := mp.Boundary(tt.contentType)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if err != nil && !errors.Is(err, mp.Malformed) {
				t.Errorf("got %v, want Malformed", err)
			}
		})
	}
}

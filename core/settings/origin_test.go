package settings_test

import (
	"strings"
	"testing"

	"edgetable/core/settings"
)

// TestOrigins checks which origins match a rule. It covers the maximum lengths, and the characters just outside the
// allowed ranges.
func TestOrigins(t *testing.T) {
	t.Parallel()
	const subdomains, longest = "https://*.contoso.com", 8 << 10
	for _, tt := range []struct {
		why           string
		rule, origin  string
		method, asked string
		want          bool
	}{
		{"a subdomain", subdomains, "https://a.contoso.com", "GET", "", true},
		{"every character of a host", subdomains, "https://az-AZ_09.b.contoso.com", "GET", "", true},
		{"the character before a digit", subdomains, "https://a/.contoso.com", "GET", "", false},
		{"the character after a digit", subdomains, "https://a:.contoso.com", "GET", "", false},
		{"the character before a letter", subdomains, "https://a@.contoso.com", "GET", "", false},
		{"the character after a letter", subdomains, "https://a{.contoso.com", "GET", "", false},
		{"a host that only begins like one", subdomains, "https://evil.", "GET", "", false},
		{"no scheme", subdomains, "://a.contoso.com", "GET", "", false},
		{"a scheme that only begins like it", subdomains, "httpsa.contoso.com", "GET", "", false},
		{"the domain itself", subdomains, "https://contoso.com", "GET", "", false},
		{"an empty label", subdomains, "https://.contoso.com", "GET", "", false},
		{"an asterisk without a domain", "https://*.", "https://evil.", "GET", "", false},

		{"every origin", "*", "https://a", "GET", "", true},
		{"the first and the last visible character", "*", "!~", "GET", "", true},
		{"a blank", "*", "https://a b", "GET", "", false},
		{"the delete character", "*", "https://a\x7f", "GET", "", false},
		{"more than ASCII", "*", "https://é", "GET", "", false},
		{"the longest origin", "*", strings.Repeat("a", longest), "GET", "", true},
		{"a longer one", "*", strings.Repeat("a", longest+1), "GET", "", false},

		{"a blank that a rule has, too", "https://a b", "https://a b", "GET", "", false},

		{"an empty item of the headers", "*", "https://a", "GET", "a,,b", true},
		{"the characters of a name", "*", "https://a", "GET", "azAZ09-!#$%&'*+.^_`|~", true},
		{"an opening brace in a name", "*", "https://a", "GET", "a{", false},
		{"a closing brace in a name", "*", "https://a", "GET", "a}", false},
		{"the delete character in a name", "*", "https://a", "GET", "a\x7f", false},
		{"a colon in a name", "*", "https://a", "GET", "a:b", false},
		{"an at sign in a name", "*", "https://a", "GET", "a@b", false},
		{"no method, where the rule has an empty one", "*", "https://a", "", "", false},
		{"the longest list of headers", "*", "https://a", "GET", strings.Repeat("h", longest), true},
		{"a longer one", "*", "https://a", "GET", strings.Repeat("h", longest+1), false},
	} {
		c := settings.CORS{{AllowedOrigins: tt.rule, AllowedMethods: "GET,", AllowedHeaders: "*", MaxAge: 1}}
		if _, ok := c.Preflight(tt.origin, tt.method, tt.asked); ok != tt.want {
			t.Errorf("%s: %.40q is %v", tt.why, tt.origin, ok)
		}
	}
}

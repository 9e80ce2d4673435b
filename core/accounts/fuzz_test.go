package accounts_test

import (
	"strings"
	"testing"

	"edgetable/core/accounts"
)

// FuzzParse checks three rules. An accepted account has a name, a safe key, and the settings that its options name.
// An entry means the same after it was written and parsed again. No error contains a key.
func FuzzParse(f *testing.F) {
	const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	f.Add("acme:" + key + " audience=https://acme.example,api://b allow=10.0.0.0/8 disabled")
	f.Add("# none\nacme:" + key + ":" + key + ";beta:" + key + " deny=::ffff:10.0.0.1")
	f.Add("acme:" + key + "\naudience=x\r\nbeta : " + key)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := accounts.Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), key) {
				t.Fatalf("the error shows a key: %v", err)
			}
			return
		}
		for name, a := range list {
			if a.Name != name || accounts.CheckName(name) != nil || a.Keys[0] == nil || a.Keys[0].Size() < accounts.LeastKey || a.Shared != (len(list) > 1) {
				t.Fatalf("%q: account %+v", name, a)
			}
			for _, audience := range a.Audiences {
				if audience == "" || strings.ContainsAny(audience, " ,;\n") {
					t.Fatalf("%q has the audience %q", name, audience)
				}
			}
		}
		if e, ok := accounts.ParseEntry(text); ok && len(list) == 1 {
			again, err := accounts.Parse(e.String())
			if err != nil {
				t.Fatalf("%q is written as %q: %v", text, e, err)
			}
			a, b := list[e.Name], again[e.Name]
			if a == nil || b == nil || a.Disabled != b.Disabled || len(a.Audiences) != len(b.Audiences) || len(a.Firewall.Allow) != len(b.Firewall.Allow) || len(a.Firewall.Deny) != len(b.Firewall.Deny) {
				t.Fatalf("%q is written as %q: %+v, %+v", text, e, a, b)
			}
		}
	})
}

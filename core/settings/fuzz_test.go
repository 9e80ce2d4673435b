package settings_test

import (
	"bytes"
	"errors"
	"testing"

	"edgetable/core/settings"
	"edgetable/core/table"

	"github.com/google/go-cmp/cmp"
)

// refused checks that err is one of the protocol's errors for XML documents.
func refused(t *testing.T, err error) {
	t.Helper()
	var e *table.Error
	if !errors.As(err, &e) || e.Code != table.InvalidXMLDocument && e.Code != table.InvalidXMLNodeValue {
		t.Fatalf("the error is not of the protocol: %v", err)
	}
}

// FuzzParsePolicies checks that accepted policies are within the limits, and are the same after storing and reading
// them.
func FuzzParsePolicies(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte("\uFEFF" + identifiers(identifier("&lt;&#13;", "<Permission>du</Permission><Start>2023-01-01T00:00+14:00</Start>"))))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		policies, err := settings.ParsePolicies(body)
		if !bytes.Equal(body, given) {
			t.Fatal("ParsePolicies changed the body")
		}
		if err != nil {
			refused(t, err)
			return
		}
		if len(policies) > 5 {
			t.Fatalf("%d policies, want at most 5", len(policies))
		}
		for i, p := range policies {
			if p.ID == "" || len(p.ID) > 4*64 || len(p.Permissions) > 4 {
				t.Fatalf("policy %d is %+v", i, p)
			}
		}
		stored := settings.AppendPolicies(nil, policies)
		again, err := settings.ParsePolicies(stored)
		if err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if diff := cmp.Diff(policies, again); diff != "" {
			t.Fatalf("-parsed +stored\n%s", diff)
		}
		if twice := settings.AppendPolicies(nil, again); !bytes.Equal(stored, twice) {
			t.Fatalf("%s is stored again as %s", stored, twice)
		}
	})
}

// FuzzUpdate checks that a refused document changes nothing. After an accepted document, the properties must be the
// same after storing and reading them. If a value from a rule occurs in a response header, it must have only legal
// characters.
func FuzzUpdate(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(legacy))
	f.Add([]byte(cors(rule, replaced("AllowedOrigins", "https://*.contoso.com , http://a"), replaced("ExposedHeaders", "x-ms-*,\r\nDate,*"))))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := configured()
		given := bytes.Clone(body)
		err := p.Update(body)
		if !bytes.Equal(body, given) {
			t.Fatal("Update changed the body")
		}
		if err != nil {
			refused(t, err)
			if diff := cmp.Diff(configured(), p); diff != "" {
				t.Fatalf("Update failed, but changed the properties\n%s", diff)
			}
			return
		}
		clear(body) // the properties must not share memory with the body
		stored(t, p)
		if len(p.CORS) > 5 {
			t.Fatalf("%d rules, want at most 5", len(p.CORS))
		}
		for _, origin := range []string{"", "https://a.contoso.com", "http://a"} {
			for _, field := range p.CORS.Actual(origin, "GET", response) {
				for _, c := range []byte(field.Value) {
					if c < ' ' || c >= 0x7f {
						t.Fatalf("%s: %q", field.Name, field.Value)
					}
				}
			}
			p.CORS.Preflight(origin, "PUT", "x-ms-date, authorization")
		}
	})
}

package settings_test

import (
	"testing"

	"edgetable/core/settings"
)

func BenchmarkActual(b *testing.B) {
	wild := with(site, func(r *settings.Rule) { r.AllowedOrigins, r.ExposedHeaders = "https://*.contoso.com", "x-ms-*,ETag" })
	for _, c := range []struct {
		name, origin string
		cors         settings.CORS
	}{
		{"no rules", "", nil},
		{"no origin", "", settings.CORS{site, site, site, site, site}},
		{"fifth rule", "https://a.contoso.com", settings.CORS{site, site, site, site, wild}},
		{"first rule", "https://www.ab.com", settings.CORS{site}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.cors.Actual(c.origin, "GET", response)
			}
		})
	}
}

// BenchmarkUpdate measures how long Update takes to read the stored document of an account.
func BenchmarkUpdate(b *testing.B) {
	doc := []byte(full)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		p := settings.Defaults()
		if err := p.Update(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParsePolicies(b *testing.B) {
	doc := []byte(recorded)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := settings.ParsePolicies(doc); err != nil {
			b.Fatal(err)
		}
	}
}

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

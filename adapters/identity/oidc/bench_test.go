package oidc

import (
	"testing"
)

// BenchmarkVerify compares the first verification of a token with later ones, which find the result of the first
// one in memory. The tokens here have 400 (ES256) to 700 bytes (RS256).
func BenchmarkVerify(b *testing.B) {
	is, c := newIssuer(b, rsaSigner(), ecSigner(), edSigner()), newClock()
	v := is.verifier(b, c)
	for _, s := range []signer{rsaSigner(), ecSigner(), edSigner()} {
		token := s.sign(is.claims(c, nil))
		verify := func(b *testing.B) {
			if _, err := v.identify(b.Context(), token); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(string(s.alg)+"/first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.forget() // 100 ns of the measured time are the call of forget
				verify(b)
			}
		})
		b.Run(string(s.alg)+"/remembered", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				verify(b)
			}
		})
	}
	forged := newEC("ec").sign(is.claims(c, nil))
	b.Run("ES256/forged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.identify(b.Context(), forged); err == nil {
				b.Fatal("accepted")
			}
		}
	})
	b.Run("garbage", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.identify(b.Context(), "garbage"); err == nil {
				b.Fatal("accepted")
			}
		}
	})
}

package sharedkey

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// TestSmallMAC compares it with the standard library, for keys around the size of a
// block and several texts with one key.
func TestSmallMAC(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	for _, size := range []int{1, 32, 63, 64, 65, 128, 1000} {
		secret := make([]byte, size)
		random.Read(secret)
		small, want := newSmallMAC(secret), hmac.New(sha256.New, secret)
		if !bytes.Equal(newSmallMAC(secret).Sum(nil), want.Sum(nil)) {
			t.Fatalf("a key of %d bytes, without a text", size)
		}
		for n := range 200 {
			text := make([]byte, n)
			random.Read(text)
			want.Reset()
			want.Write(text)
			small.Reset()
			small.Write(text[:n/2])
			small.Write(text[n/2:])
			if !bytes.Equal(small.Sum([]byte("x")), want.Sum([]byte("x"))) {
				t.Fatalf("a key of %d bytes, a text of %d", size, n)
			}
		}
	}
}

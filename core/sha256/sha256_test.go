package sha256_test

import (
	"bytes"
	"crypto/hmac"
	std "crypto/sha256"
	"math/rand/v2"
	"testing"

	"edgetable/core/sha256"
)

// Every length around the ends of blocks, of messages and of keys, against
// crypto/sha256 and crypto/hmac.
func TestLengths(t *testing.T) {
	t.Parallel()
	rnd := rand.NewChaCha8([32]byte{1})
	message := make([]byte, 4*sha256.BlockSize)
	rnd.Read(message)
	key := make([]byte, 2*sha256.BlockSize+1)
	rnd.Read(key)
	for n := range len(message) + 1 {
		compare(t, key[:32], message[:n])
	}
	for n := range len(key) + 1 {
		compare(t, key[:n], message[:100])
	}
}

func FuzzHMAC(f *testing.F) {
	f.Add([]byte("key"), []byte("The quick brown fox jumps over the lazy dog"))
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(compare[*testing.T])
}

func compare[T testing.TB](t T, key, message []byte) {
	if got, want := sha256.Sum(message), std.Sum256(message); got != want {
		t.Errorf("hash of %x: got %x, want %x", message, got, want)
	}
	mac := hmac.New(std.New, key)
	mac.Write(message)
	h := sha256.NewHMAC(key)
	for range 2 { // the first use leaves no traces
		if got, want := h.Sum(message), mac.Sum(nil); !bytes.Equal(got[:], want) {
			t.Errorf("code of %x with %x: got %x, want %x", message, key, got, want)
		}
	}
}

func BenchmarkHMAC(b *testing.B) {
	h := sha256.NewHMAC([]byte("a key of 32 bytes, as a good one"))
	message := bytes.Repeat([]byte("a string to sign "), 12)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		h.Sum(message)
	}
}

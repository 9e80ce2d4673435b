package sharedkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"sync"
	"sync/atomic"
)

// ErrKey means that an account key is empty or not base64. Its text does not contain the key.
var ErrKey = errors.New("sharedkey: an account key must be non-empty standard base64")

// textSize is the length of a base64 signature.
const textSize = (sha256.Size + 2) / 3 * 4

// Key is an account key. It is safe for concurrent use, reuses HMAC states, and never prints its secret.
type Key struct {
	signers sync.Pool // pool of *signer
	used    atomic.Bool
	size    int
}

// signer holds the reusable memory for computing one signature. The arrays are fields, because arguments of hash.Hash
// methods escape to the heap.
type signer struct {
	mac  hash.Hash
	buf  []byte // the StringToSign
	sum  [sha256.Size]byte
	text [textSize]byte
}

// maxKept is the maximum size in bytes of a buffer that is retained for reuse. A StringToSign usually has 100 to 300
// bytes, and 6 KiB with two percent-encoded keys of 1 KiB.
const maxKept = 8 << 10

// NewKey returns a key with a copy of the given secret. An empty secret fails with [ErrKey], because any client could
// sign with it.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) == 0 {
		return nil, ErrKey
	}
	secret = append([]byte(nil), secret...)
	k := &Key{size: len(secret)}
	k.signers.New = func() any { return &signer{mac: hmac.New(sha256.New, secret)} }
	return k, nil
}

// ParseKey decodes an account key from standard base64. It fails with [ErrKey] if the text is empty or not base64.
func ParseKey(text string) (*Key, error) {
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrKey
	}
	return NewKey(secret)
}

// Size returns the length of the key in bytes.
func (k *Key) Size() int { return k.size }

// MarkUsed records that the key has verified a signature.
func (k *Key) MarkUsed() {
	if !k.used.Load() { // an unnecessary write would cause contention for the cache line
		k.used.Store(true)
	}
}

// TakeUsed reports whether MarkUsed was called since the last TakeUsed.
func (k *Key) TakeUsed() bool { return k.used.Swap(false) }

// String returns a placeholder instead of the key.
func (k *Key) String() string { return "sharedkey.Key(withheld)" }

// GoString returns the same text as String, so that %#v omits the key too.
func (k *Key) GoString() string { return k.String() }

// Sign returns the HMAC-SHA256 of s as 44 bytes of base64.
func (k *Key) Sign(s string) string {
	w := k.signer()
	defer k.release(w)
	w.buf = append(w.buf, s...)
	return string(w.sign(w.buf))
}

// Authorization returns the value of the Authorization header for req. The date of the sent request must be the date in
// req.
func (k *Key) Authorization(scheme Scheme, account string, req Request) string {
	w := k.signer()
	defer k.release(w)
	w.buf = appendStringToSign(w.buf, scheme, account, req.Path, &req)
	return scheme.String() + " " + account + ":" + string(w.sign(w.buf))
}

func (k *Key) signer() *signer {
	w := k.signers.Get().(*signer)
	w.buf = w.buf[:0]
	return w
}

func (k *Key) release(w *signer) {
	if cap(w.buf) <= maxKept {
		k.signers.Put(w)
	}
}

// sign returns the signature of msg as base64. The result is valid until the next call.
func (w *signer) sign(msg []byte) []byte {
	w.mac.Reset()
	w.mac.Write(msg)
	base64.StdEncoding.Encode(w.text[:], w.mac.Sum(w.sum[:0]))
	return w.text[:]
}

//go:build !tinygo

package sharedkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
)

// macSize is the length of a code in bytes.
const macSize = sha256.Size

// mac computes HMAC-SHA256 with one key, over and over.
type mac struct {
	hash hash.Hash
	out  [macSize]byte // lives here, for what is passed to a hash.Hash escapes to the heap
}

func newMAC(secret []byte) mac { return mac{hash: hmac.New(sha256.New, secret)} }

// sum is the code of msg, valid until the next call.
func (m *mac) sum(msg []byte) []byte {
	m.hash.Reset()
	m.hash.Write(msg)
	return m.hash.Sum(m.out[:0])
}

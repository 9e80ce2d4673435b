package sharedkey

import (
	"crypto/sha256"
	"hash"
)

// smallMAC is HMAC-SHA256 as in RFC 2104, for modules of TinyGo: package crypto/hmac
// brings AES, SHA-3 and SHA-512 with it, for the tests of FIPS 140, and with them a
// twentieth of the module.
type smallMAC struct {
	hash.Hash
	inner, outer [sha256.BlockSize]byte
	sum          [sha256.Size]byte
}

func newSmallMAC(secret []byte) *smallMAC {
	m := &smallMAC{Hash: sha256.New()}
	if len(secret) > len(m.inner) {
		short := sha256.Sum256(secret)
		secret = short[:]
	}
	copy(m.inner[:], secret)
	for i, b := range m.inner {
		m.inner[i], m.outer[i] = b^0x36, b^0x5c
	}
	m.Reset()
	return m
}

// Reset implements [hash.Hash].
func (m *smallMAC) Reset() {
	m.Hash.Reset()
	m.Hash.Write(m.inner[:])
}

// Sum implements [hash.Hash], but only Reset may follow it.
func (m *smallMAC) Sum(dst []byte) []byte {
	m.Hash.Sum(m.sum[:0])
	m.Hash.Reset()
	m.Hash.Write(m.outer[:])
	m.Hash.Write(m.sum[:])
	return m.Hash.Sum(dst)
}

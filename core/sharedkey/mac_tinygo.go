//go:build tinygo

package sharedkey

import "edgetable/core/sha256"

// The twin of mac.go where size counts; see package sha256.

const macSize = sha256.Size

type mac struct {
	hmac *sha256.HMAC
	out  [macSize]byte
}

func newMAC(secret []byte) mac { return mac{hmac: sha256.NewHMAC(secret)} }

func (m *mac) sum(msg []byte) []byte {
	m.out = m.hmac.Sum(msg)
	return m.out[:]
}

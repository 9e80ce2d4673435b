// Package sha256 is SHA-256 (FIPS 180-4) and HMAC (RFC 2104) over it, for wasm
// alone. crypto/sha256 is better wherever there is room for it: it uses the
// processor's instructions, which wasm lacks, and it brings along all of the
// FIPS module, AES and SHA-3 included, of which TinyGo cannot drop what the
// start-up tests use: a tenth of a Worker.
//
// Nothing here branches or looks up by what is hashed.
package sha256

import (
	"encoding/binary"
	"math/bits"
)

// Size of a hash and of the blocks that are hashed, in bytes.
const (
	Size      = 32
	BlockSize = 64
)

// state is a hash between two blocks.
type state [8]uint32

var initial = state{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19}

// roots are the first 32 bits of the fractions of the cube roots of the first
// 64 primes.
var roots = [64]uint32{
	0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
	0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
	0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
	0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
	0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
	0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
	0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
	0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
}

// block adds one block.
func (h *state) block(p []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(p[4*i:])
	}
	for i := 16; i < len(w); i++ {
		x, y := w[i-15], w[i-2]
		w[i] = w[i-16] + w[i-7] +
			(bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3) +
			(bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10)
	}
	a, b, c, d, e, f, g, z := h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
	for i := range w {
		x := z + w[i] + roots[i] + (e&f ^ ^e&g) +
			(bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25))
		y := (a&b ^ a&c ^ b&c) +
			(bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22))
		a, b, c, d, e, f, g, z = x+y, a, b, c, d+x, e, f, g
	}
	for i, x := range [...]uint32{a, b, c, d, e, f, g, z} {
		h[i] += x
	}
}

// finish adds the last bytes of a message and returns its hash. before is how
// many bytes were hashed before them, whole blocks.
func (h state) finish(p []byte, before int) (sum [Size]byte) {
	length := uint64(before+len(p)) * 8
	for len(p) >= BlockSize {
		h.block(p)
		p = p[BlockSize:]
	}
	var last [BlockSize]byte
	last[copy(last[:], p)] = 0x80
	if len(p) > BlockSize-9 { // no room for the length
		h.block(last[:])
		last = [BlockSize]byte{}
	}
	binary.BigEndian.PutUint64(last[BlockSize-8:], length)
	h.block(last[:])
	for i, x := range h {
		binary.BigEndian.PutUint32(sum[4*i:], x)
	}
	return sum
}

// Sum is the hash of a message.
func Sum(message []byte) [Size]byte { return initial.finish(message, 0) }

// HMAC makes authentication codes with one key. It does not change after it was
// made.
type HMAC struct{ inner, outer state }

// NewHMAC takes a key of any length, of which it keeps but two hashes.
func NewHMAC(key []byte) *HMAC {
	if len(key) > BlockSize {
		sum := Sum(key)
		key = sum[:]
	}
	m := &HMAC{initial, initial}
	var pad [BlockSize]byte
	copy(pad[:], key)
	for i := range pad {
		pad[i] ^= 0x36
	}
	m.inner.block(pad[:])
	for i := range pad {
		pad[i] ^= 0x36 ^ 0x5C
	}
	m.outer.block(pad[:])
	return m
}

// Sum is the code of a message.
func (m *HMAC) Sum(message []byte) [Size]byte {
	inner := m.inner.finish(message, BlockSize)
	return m.outer.finish(inner[:], BlockSize)
}

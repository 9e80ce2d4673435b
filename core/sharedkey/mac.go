//go:build !tinygo

package sharedkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
)

func newMAC(secret []byte) hash.Hash { return hmac.New(sha256.New, secret) }

package sas

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"edgetable/core/percent"
)

const (
	// maxKey is the maximum length of spk, srk, epk and erk in bytes after decoding. A valid key has at most 3072
	// bytes.
	maxKey = 8 << 10
	// maxValue is the maximum length of any other parameter in bytes after decoding.
	maxValue = 512
)

// Parse parses the token in a query, which must be exactly as sent. Without sig, it returns nil, nil. A malformed or
// repeated value fails with AuthenticationFailed.
func Parse(rawQuery string) (*Token, error) {
	var values [fields]string
	var seen, repeated set
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		name, value, _ := strings.Cut(pair, "=")
		if f, ok := fieldOf(name); ok {
			repeated |= seen & (1 << f)
			seen |= 1 << f
			values[f] = value
		}
	}
	switch {
	case !seen.has(sig):
		return nil, nil
	case repeated != 0:
		return nil, authenticationFailed("the parameter " + fieldNames[repeated.first()] + " occurs more than once in the query")
	}
	return newToken(&values, decoded)
}

func limit(f field) int {
	switch f {
	case spk, srk, epk, erk:
		return maxKey
	}
	return maxValue
}

// checkValue validates the value of one field. It rejects line feeds, with which two different lists of values could
// have the same StringToSign.
func checkValue(f field, value []byte) error {
	switch {
	case len(value) > limit(f):
		return authenticationFailed("the parameter " + fieldNames[f] + " is too long")
	case !utf8.Valid(value):
		return authenticationFailed("the parameter " + fieldNames[f] + " is not UTF-8")
	case bytes.IndexByte(value, '\n') >= 0:
		return authenticationFailed("the parameter " + fieldNames[f] + " contains a line feed")
	}
	return nil
}

func decoded(dst []byte, s string) ([]byte, bool) { return percent.Append(dst, s, true) }

// fieldOf returns the field with the given name, which may be percent-encoded.
func fieldOf(name string) (field, bool) {
	const longest = len("skdutid")
	var plain [longest]byte
	n := 0
	for i := 0; i < len(name); i++ {
		if n == longest {
			return 0, false
		}
		c := name[i]
		if d, ok := percent.Byte(name, i); ok {
			c = d
			i += 2
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		plain[n] = c
		n++
	}
	for f, known := range fieldNames {
		if string(plain[:n]) == known {
			return field(f), true
		}
	}
	return 0, false
}

package key

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// MaxLength is the maximum length of a PartitionKey or RowKey, in UTF-16 code units.
const MaxLength = 1024

// These are the errors of [Check].
var (
	ErrCharacter = errors.New("a key must not contain / \\ # ? or control characters (U+0000 to U+001F, U+007F to U+009F)")
	ErrEncoding  = errors.New("a key must be valid Unicode, without lone surrogates")
	ErrLength    = errors.New("a key must be at most 1024 characters long")
)

// Check returns nil if s is a valid PartitionKey or RowKey, and [ErrCharacter], [ErrEncoding] or [ErrLength] otherwise.
// The empty string is valid.
func Check(s string) error {
	if len(s) <= MaxLength && plain(s) {
		return nil
	}
	n := 0
	for i, r := range s {
		switch {
		case r < 0x20, r >= 0x7F && r <= 0x9F, r == '/', r == '\\', r == '#', r == '?':
			return ErrCharacter
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return ErrEncoding
			}
		case r >= 0x10000:
			n++
		}
		if n++; n > MaxLength {
			return ErrLength
		}
	}
	return nil
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7F || c == '/' || c == '\\' || c == '#' || c == '?' {
			return false
		}
	}
	return true
}

const separator = 0x00

// Append appends the encoded key of an entity. Both parts must be valid; see [Check].
func Append(dst []byte, partition, row string) []byte {
	dst = AppendPart(dst, partition)
	dst = append(dst, separator)
	return AppendPart(dst, row)
}

// AppendPart appends one encoded part of a key. The bytes sort as strings do in UTF-16. s may be any string.
func AppendPart(dst []byte, s string) []byte {
	i := 0
	for i < len(s) && s[i] < 0xEE { // fast path: code points below U+E000 are unchanged
		i++
	}
	dst = append(dst, s[:i]...)
	for _, r := range s[i:] {
		dst = utf8.AppendRune(dst, rotate(r))
	}
	return dst
}

func rotate(r rune) rune {
	switch {
	case r < 0xE000:
		return r
	case r < 0x10000:
		return r + 0x100000
	}
	return r - 0x2000
}

func unrotate(r rune) rune {
	switch {
	case r < 0xE000:
		return r
	case r < 0x10E000:
		return r + 0x2000
	}
	return r - 0x100000
}

// Split splits an encoded key into its encoded parts. Without a separator, the whole key is the partition.
func Split(k []byte) (partition, row []byte) {
	i := bytes.IndexByte(k, separator)
	if i < 0 {
		return k, nil
	}
	return k[:i], k[i+1:]
}

// Partition returns the common prefix of all encoded keys in the partition of k, including the separator.
func Partition(k []byte) []byte { return k[:bytes.IndexByte(k, separator)+1] }

// Decode returns the PartitionKey and the RowKey of an encoded key. The strings may share memory with k.
func Decode(k []byte) (partition, row string) {
	p, r := Split(k)
	return DecodePart(p), DecodePart(r)
}

// DecodePart is the inverse of [AppendPart]. The result may share memory with b.
func DecodePart(b []byte) string {
	i := 0
	for i < len(b) && b[i] < 0xEE {
		i++
	}
	if i == len(b) {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	out := make([]byte, 0, len(b)+8)
	out = append(out, b[:i]...)
	for _, r := range string(b[i:]) {
		out = utf8.AppendRune(out, unrotate(r))
	}
	return string(out)
}

// Compare compares two strings by UTF-16 code unit without encoding them.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// UTF-8 and UTF-16 order differ only between two groups: U+E000…U+FFFF (first byte EE or EF), and the code
		// points from U+10000 on (first byte F0…F4; surrogates D800…DFFF in UTF-16).
		if x >= 0xEE && y >= 0xEE && (x < 0xF0) != (y < 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return strings.Compare(a[n:], b[n:])
}

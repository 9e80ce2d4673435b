package workerskv

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"edgetable/core/table"
)

// The first byte of a name is its space, which determines the form of the rest:
const (
	spaceEntities = "e" // incarnation, then the position of the entity
	spaceRecords  = "d" // key of the record as text
	spacePurges   = "x" // incarnation, then a time: a note that the table was dropped, see purge.go
	spaceSyncs    = "s" // source of changes such as a bucket, see Publisher.Synced
)

const (
	maxName = 512
	// incarnationText is the length of an incarnation in base64, as in names.
	incarnationText = 16
	// maxKey is the maximum length of an encoded key in a name.
	maxKey = maxName - 1 - incarnationText
	// separator replaces the byte 00 of an encoded key, and after replaces the byte 01, because KV might not accept
	// these bytes. Both sort below every character of a key.
	separator = 0x1E
	after     = 0x1F
)

// textOf returns the form of an incarnation in names.
func textOf(i table.Incarnation) string { return base64.RawURLEncoding.EncodeToString(i[:]) }

// entityPrefix returns the prefix of the names of all entities of an incarnation.
func entityPrefix(i table.Incarnation) string { return spaceEntities + textOf(i) }

// appendPosition appends the form of a position in names.
func appendPosition(dst, position []byte) []byte {
	for _, c := range position {
		if c < 0x20 {
			c += separator
		}
		dst = append(dst, c)
	}
	return dst
}

// nameOf returns the name of the entity with the given encoded key. Names sort like keys, also for a position between
// two keys.
func nameOf(prefix string, position []byte) string {
	b := make([]byte, 0, len(prefix)+len(position))
	return string(appendPosition(append(b, prefix...), position))
}

// keyOf returns the encoded key in the name of an entity, or nil for any other name.
func keyOf(prefix, name string) []byte {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || strings.Count(rest, string(rune(separator))) != 1 {
		return nil
	}
	k := []byte(rest)
	for i, c := range k {
		if c == separator {
			k[i] = 0
		} else if c < 0x20 {
			return nil
		}
	}
	return k
}

// overflow is the maximum number of bytes of a long key that the name of its mark contains.
const overflow = maxKey - 1 - 2*digestSize

const digestSize = 8

// markOf returns the name of the mark for a key that is too long for a name in KV. It consists of the beginning of the
// key, the constant after, and a digest of the key.
func markOf(prefix string, k []byte) string {
	b := appendPosition([]byte(prefix), k[:cutLength(k, overflow)])
	digest := sha256.Sum256(k)
	return string(hex.AppendEncode(append(b, after), digest[:digestSize]))
}

// markedBy returns the beginning of the keys in the name of a mark, or nil for any other name.
func markedBy(prefix, name string) []byte {
	i := strings.IndexByte(name, after)
	if i < len(prefix) {
		return nil
	}
	return bytes.ReplaceAll([]byte(name[len(prefix):i]), []byte{separator}, []byte{0})
}

// cutLength returns the greatest offset, at most n, at which a key can be cut without dividing a UTF-8 character.
func cutLength(k []byte, n int) int {
	if n >= len(k) {
		return len(k)
	}
	for n > 0 && k[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

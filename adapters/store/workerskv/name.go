package workerskv

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// The first byte of a name is its space.
const (
	spaceEntities  = "e" // · life · position of the entity
	spaceJournals  = "j" // · life · rotated PartitionKey
	spaceDocuments = "d" // · key of the document
	spacePurges    = "x" // · life · stamp
	spaceSyncs     = "s" // · what was published
)

const (
	maxName = 512
	// lifeSize is the length of a life, an incarnation in base64.
	lifeSize = 16
	// MaxKey is the longest encoded key that a name can hold.
	MaxKey = maxName - 1 - lifeSize
	// separator and after stand for 00 and 01 of package key, which are not sure to
	// be taken in names. They sort as these do, below every character of a key.
	separator = 0x1E
	after     = 0x1F
)

// lifeOf is an incarnation as it is in names.
func lifeOf(i table.Incarnation) string { return base64.RawURLEncoding.EncodeToString(i[:]) }

// entities is what the names of all entities of a life begin with.
func entities(life string) string { return spaceEntities + life }

func journals(life string) string { return spaceJournals + life }

// appendPosition appends a position as it is in names.
func appendPosition(dst, position []byte) []byte {
	for _, c := range position {
		if c < 0x20 {
			c += separator
		}
		dst = append(dst, c)
	}
	return dst
}

// nameOf is the name of an entity, or where a position is among names.
func nameOf(prefix string, position []byte) string {
	b := make([]byte, 0, len(prefix)+len(position))
	return string(appendPosition(append(b, prefix...), position))
}

// keyOf is the encoded key of the entity with this name. It is nil for a name
// that is not one of an entity.
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

// journalOf is the name of the journal of a partition, for the key of any entity
// in it.
func journalOf(life string, k []byte) string {
	partition, _ := key.Split(k)
	return nameOf(journals(life), partition)
}

// overflow is how much of a long key is in the name of what stands for it in a
// replica.
const overflow = MaxKey - 1 - 2*digestSize

const digestSize = 8

// markOf is the name of the mark that stands for an entity whose key is too
// long: its beginning, which ends with a whole character, then a sign that sorts
// before every longer key, then a digest.
func markOf(prefix string, k []byte) string {
	b := appendPosition([]byte(prefix), k[:cut(k, overflow)])
	digest := sha256.Sum256(k)
	return string(hex.AppendEncode(append(b, after), digest[:digestSize]))
}

// markedBy is what the keys begin with of which a mark says that they are long.
func markedBy(prefix, name string) []byte {
	i := strings.IndexByte(name, after)
	if i < len(prefix) {
		return nil
	}
	return bytes.ReplaceAll([]byte(name[len(prefix):i]), []byte{separator}, []byte{0})
}

// cut is n, or a little less, such that k[:n] ends with a whole character.
func cut(k []byte, n int) int {
	if n >= len(k) {
		return len(k)
	}
	for n > 0 && k[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

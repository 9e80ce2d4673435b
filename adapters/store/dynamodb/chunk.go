package dynamodb

import (
	"encoding/binary"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
)

// version is the random name of a set of chunks, or of a note.
type version [16]byte

// chunks identifies the items that store the encoded properties of a large entity. Chunks are immutable: a new state of
// the entity gets new chunks with a new version.
type chunks struct {
	version version
	count   int // number of chunks; 0 if the entity has none
	size    int // total size of the chunks in bytes
}

func (c chunks) none() bool { return c.count == 0 }

// attribute returns the stored form of c: version · count (1 byte) · size (4 bytes).
func (c chunks) attribute() types.AttributeValue {
	b := append(c.version[:len(c.version):len(c.version)], byte(c.count))
	return attribute.Binary(binary.BigEndian.AppendUint32(b, uint32(c.size)))
}

func readChunks(a types.AttributeValue) (c chunks, err error) {
	b := attribute.Bytes(a)
	if len(b) != len(c.version)+5 || b[len(c.version)] == 0 {
		return c, errItem
	}
	n := copy(c.version[:], b)
	size := binary.BigEndian.Uint32(b[n+1:])
	if size > maxPayload { // this limits the memory that is allocated before the chunks are read
		return c, errItem
	}
	c.count, c.size = int(b[n]), int(size)
	return c, nil
}

func (c chunks) sort(i int) []byte { return append(c.version[:len(c.version):len(c.version)], byte(i)) }

package dynamodb

import (
	"encoding/binary"
	"fmt"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// The store's own attributes. No property can have such a name, because property names
// begin with a letter or an underscore. Each has one letter, from which package call
// makes its placeholder. infra/aws enables TTL for .ttl, so none may have that name.
const (
	attrHash = call.Hash // B
	attrSort = call.Sort // B

	// Attributes of an entity.
	attrTicks  = ".t" // N: Timestamp
	attrNonce  = ".o" // N
	attrCount  = ".n" // N: upper bound of the number of properties
	attrSize   = ".z" // N: upper bound of the size of the item in bytes
	attrChunks = ".c" // B: version and number of the chunks that hold the properties

	// Attributes of a chunk.
	attrData = ".d" // B

	// Attributes of a record.
	attrValue       = ".v" // B
	attrRevision    = ".r" // S
	attrIncarnation = ".i" // B: only of the record of a table
	attrBuckets     = ".k" // N: number of buckets
	attrDeleting    = ".g" // BOOL: the table was dropped, its name is not free yet
	attrTraits      = ".l" // B: what the table declares

	// More attributes of the record of a table that was, or is being, rebucketed.
	attrOrigin = ".j" // B: the incarnation it was created with
	attrTarget = ".a" // B: the incarnation it is copied to
	attrSpread = ".h" // N: number of buckets of the copy
	attrOwner  = ".q" // S: the run that copies
	attrSeal   = ".x" // N: rebucket.Seal
	attrBeat   = ".y" // N: rises while the run that sealed it lives

	// Attributes of a note for Purge.
	attrDue    = ".u" // N: ticks
	attrRecord = ".m" // S: key of the record
	attrEntity = ".e" // B: encoded key
	attrNew    = ".w" // B: version that was being written
	attrOld    = ".f" // B: version that was being replaced

	// Attributes of the item with a table's progress in upkeep.
	attrState = ".b" // B: how far it has got
)

// The store's own attributes of an entity, and of a record, concatenated. Each has two characters, so a search for a
// name finds it only if it is one of them.
const (
	ownOfEntity = attrHash + attrSort + attrTicks + attrNonce + attrCount + attrSize + attrChunks
	ownOfRecord = attrHash + attrSort + attrValue + attrRevision + attrIncarnation + attrBuckets + attrDeleting + attrTraits +
		attrOrigin + attrTarget + attrSpread + attrOwner + attrSeal + attrBeat
)

// newer returns the error for an item with an attribute that this version does not know. A later version may have
// added it to change the meaning of the item, so it must not be ignored.
func newer(name string) error {
	return fmt.Errorf("an item of the DynamoDB table has the attribute %s, which a newer version of edgetable wrote: use that version or a later one", name)
}

// Hash keys begin with the kind of the item.
const (
	kindRecord  = 'D'
	kindEntity  = 'E' // incarnation, bucket
	kindChunk   = 'C' // incarnation, bucket
	kindDropped = 'P' // tables to purge
	kindPending = 'W' // writes of chunks in flight
	kindUpkeep  = 'U' // the upkeep of tables; the sort keys are those of their records

	kindHeartbeat = 'H' // a number; the sort key is a Region
)

type item = call.Item

// hashKey returns the hash key of one bucket of a table.
func hashKey(kind byte, p rebucket.Spread, bucket uint16) []byte {
	b := make([]byte, 0, 1+len(p.Incarnation)+2)
	b = append(append(b, kind), p.Incarnation[:]...)
	return binary.BigEndian.AppendUint16(b, bucket)
}

// DynamoDB's limits, with a margin. This package checks them before it writes, because
// DynamoDB Local does not refuse all larger items and transactions.
const (
	maxSortKey    = call.MaxSort
	maxItem       = 380 << 10           // 20 KiB less than DynamoDB's
	maxTransact   = 4<<20 - 64<<10      // 64 KiB less
	maxPayload    = 4 << 20             // properties of one Commit: the protocol's limit of a batch
	maxProperties = table.MaxProperties // of an entity
	maxImages     = 16 << 20            // properties of the entities of one Commit, before or after it
	chunkSize     = 350 << 10           // bytes of properties in a chunk
)

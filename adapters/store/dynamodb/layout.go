package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// Names of the store attributes: a dot and a letter. Property names do not begin with a dot. Package call derives
// placeholders from the letters.
//
// The name .ttl must not be used, because infra/aws enables DynamoDB's TTL for it.
const (
	attrHash = call.Hash
	attrSort = call.Sort

	// Attributes of an entity.
	attrTicks  = ".t" // number: the Timestamp
	attrNonce  = ".o" // number: the nonce of the last write
	attrCount  = ".n" // number: upper bound of the number of properties
	attrSize   = ".z" // number: upper bound of the size of the item in bytes
	attrChunks = ".c" // binary: version, number and size of the chunks that contain the properties

	// Attributes of a chunk.
	attrData = ".d" // binary: a part of the encoded properties

	// Attributes of a record.
	attrValue       = ".v" // binary: the value of the record
	attrRevision    = ".r" // string: the revision of the record
	attrIncarnation = ".i" // binary: the incarnation of a table; other records have none
	attrBuckets     = ".k" // number: the number of buckets
	attrDeleting    = ".g" // boolean: the table was dropped, and its name cannot be used yet
	attrTraits      = ".l" // binary: the options of the table

	// More attributes of a table's record, if Rebucket has moved the table or is moving it.
	attrOrigin = ".j" // binary: the incarnation with which the table was created
	attrTarget = ".a" // binary: the incarnation of the copy
	attrSpread = ".h" // number: the number of buckets of the copy
	attrOwner  = ".q" // string: the id of the run of Rebucket that may write the copy
	attrSeal   = ".x" // number: the rebucket.Seal of the table
	attrBeat   = ".y" // number: a counter that the run increments while the table is sealed

	// Attributes of a note.
	attrDue    = ".u" // number: the earliest time, in ticks, at which Purge may process the note
	attrRecord = ".m" // string: the key of the table's record
	attrEntity = ".e" // binary: the encoded key of the entity that the write changes
	attrNew    = ".w" // binary: the names of the new chunks of a write
	attrOld    = ".f" // binary: the names of the chunks that the write replaces

	// Attributes of an item with the progress of a table's upkeep.
	attrState = ".b" // binary: the encoded progress
)

// These strings are the concatenated names of all attributes that an entity or a record may have. The code searches for
// a name in such a string. The dots prevent false matches.
const (
	ownOfEntity = attrHash + attrSort + attrTicks + attrNonce + attrCount + attrSize + attrChunks
	ownOfRecord = attrHash + attrSort + attrValue + attrRevision + attrIncarnation + attrBuckets + attrDeleting + attrTraits +
		attrOrigin + attrTarget + attrSpread + attrOwner + attrSeal + attrBeat
)

var errItem = errors.New("dynamodb: an item is damaged")

// newer returns the error for an item with an unknown attribute. Such an item must not be used, because a newer version
// may have changed its meaning.
func newer(name string) error {
	return fmt.Errorf("an item of the DynamoDB table has the attribute %s, which a newer version of edgetable wrote: use that version or a later one", name)
}

// The first byte of a hash key is the kind of the item.
const (
	kindRecord  = 'D'
	kindEntity  = 'E' // entities; followed by the table's incarnation and the number of the bucket
	kindChunk   = 'C' // chunks; followed by the table's incarnation and the number of the bucket
	kindDropped = 'P' // notes about tables that Purge must remove
	kindPending = 'W' // notes about writes that create or replace chunks
	kindUpkeep  = 'U' // progress of the removal of expired entities; the sort key is the key of the table's record

	kindHeartbeat = 'H' // heartbeats; followed by the number of the heartbeat; the sort key is a Region
)

type item = call.Item

func hashKey(kind byte, p rebucket.Spread, bucket uint16) []byte {
	b := make([]byte, 0, 1+len(p.Incarnation)+2)
	b = append(append(b, kind), p.Incarnation[:]...)
	return binary.BigEndian.AppendUint16(b, bucket)
}

// Limits below the limits of DynamoDB. The package checks them itself, because DynamoDB Local accepts items and
// transactions that DynamoDB rejects.
const (
	maxSortKey    = call.MaxSort
	maxItem       = 380 << 10      // maximum size of an item: 20 KiB below DynamoDB's limit
	maxTransact   = 4<<20 - 64<<10 // maximum size of a transaction: 64 KiB below DynamoDB's limit
	maxPayload    = 4 << 20        // maximum number of bytes of properties in one Commit: the protocol's limit for a batch
	maxProperties = table.MaxProperties
	maxImages     = 16 << 20  // maximum size of the properties of all entities that one Commit reads, and of all entities that it writes
	chunkSize     = 350 << 10 // maximum number of bytes of properties in a chunk
)

// Package key encodes the keys of an entity as bytes whose order is the service's order of entities: by PartitionKey,
// then by RowKey, each compared by UTF-16 code unit. All stores use this encoding, so a range of bytes is the same
// range of entities everywhere.
//
// The encoding first rotates code points: U+E000…U+FFFF become the highest code points, and those from U+10000 on move
// down into the gap. It then writes the result as UTF-8. UTF-8 bytes sort like code points, and rotated code points
// sort like UTF-16. The bytes are valid UTF-8, and equal the key itself if all characters are below U+E000. An encoded
// key is
//
//	rotated PartitionKey · 00 · rotated RowKey
//
// It sorts correctly and identifies the pair, because no valid key has a character below U+0020. [PartitionFrom],
// [PartitionAfter], [RowFrom] and [RowAfter] return the ends of ranges for any string, because a filter may compare a
// key with any string.
package key

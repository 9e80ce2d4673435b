// Package key encodes the keys of an entity as bytes whose unsigned order is the service's order of entities: by
// PartitionKey, then by RowKey, each compared by UTF-16 code unit. All stores use it, so a range of bytes is the same
// range of entities everywhere.
//
// Encoding rotates code points: U+E000…U+FFFF move above all others, and U+10000 and above move down into the gap.
// The result is written as UTF-8. UTF-8 bytes sort like code points, and rotated code points sort like UTF-16. The
// result is valid UTF-8, and equals the key itself if all its characters are below U+E000. An encoded key is
//
//	rotated PartitionKey · 00 · rotated RowKey
//
// which sorts correctly and is unique to the pair, since no legal key has a character below U+0020. [PartitionFrom],
// [PartitionAfter], [RowFrom] and [RowAfter] return the ends of ranges for any string, because a filter may compare a
// key with any string.
package key

// Package key encodes the keys of an entity as bytes whose unsigned order is the
// service's order of entities: by PartitionKey, then by RowKey, each compared by
// UTF-16 code unit. Every store uses it, so that a range of bytes is a range of
// entities everywhere.
//
// The code points are rotated, U+E000…U+FFFF above all others and U+10000 and
// up into their place, and written as UTF-8: the order of UTF-8 bytes is the
// order of code points, and after the rotation that is the order of UTF-16. The
// result is valid UTF-8 and equals the key itself for everything below U+E000.
// A key is
//
//	rotated PartitionKey · 00 · rotated RowKey
//
// which sorts correctly and is injective, since no legal key has a character
// below U+0020. [PartitionFrom], [PartitionAfter], [RowFrom] and [RowAfter]
// give the ends of ranges for any string, because a filter may compare a key
// with any string.
package key

// Package workerskv stores tables in Workers KV. [Store] is a store that uses only KV. [Publisher] and [Replica] write
// and read a replica of another store, whose reads are served near the client. Both use the same layout of names in KV,
// through the small interface [Namespace]. Package kv and the Worker implement this interface on the platform's
// binding.
//
// KV is built for cheap reads all over the world. A read may return a state that is up to a minute old, even the
// state before the name existed. KV has no conditional writes, and accepts one write per second to a name. A list
// returns the names with a given prefix in byte order.
//
// # Layout
//
// Each entity is stored under one name: the prefix "e", the incarnation of the table, and the entity's encoded key with
// the separator U+001E:
//
//	e · AQAAAAAAAAAAAAAA · PartitionKey · U+001E · RowKey
//
// So the names of a table, of a partition and of many other ranges have a common prefix, and a list returns entities
// in the order of their keys. An entity of up to [maxInline] bytes is stored in the metadata of its name, which a
// list returns. A larger entity is stored as the value, which needs one more read. Names of records begin with "d".
//
// A name has space for an encoded key of [maxKey] bytes. A store refuses longer keys. A replica has only marks for
// longer keys, and reads their entities from the primary.
//
// A list can start only at the beginning of a prefix or at a cursor of an earlier list. So a scan lists the common
// prefix of its range and skips the names before the range. The position at the end of a page contains the cursor. If
// KV refuses this cursor, the scan begins again at the prefix.
//
// # Guarantees of a store
//
// The only guarantee is durability. For a minute after a write, all readers, including the writer, may see the old
// state. If an entity is written twice within a minute, the last write wins, and a merge may lose properties of the
// other write. A second write within a second fails with [table.ErrBusy].
//
// These operations are always available: operations on tables, reads, scans with filters, upserts, and updates and
// deletes with If-Match: *. Inserts, ETags and batches need conditional writes. They fail with [table.ErrUnsupported]
// unless [Options.BestEffort] is set. Conditions are then checked against the state that KV returns, and a batch may
// be applied in part.
//
// The catalog has no stronger guarantees. If two clients create the same table within a minute, both may succeed; one
// of the two tables is then lost with its entities. For a minute after a table is deleted, other clients may still read
// and write it. A later table of the same name does not contain these entities. [Store.Purge] deletes them.
//
// The isolate that writes an entity issues its Timestamp, from its own clock. The Timestamp is above all Timestamps
// that the isolate has issued before, or read for this write.
//
// This package starts no goroutines, never sleeps, and reads no clock except the Now function that it is given.
package workerskv

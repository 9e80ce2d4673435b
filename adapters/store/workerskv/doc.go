// Package workerskv keeps tables in Workers KV: as a store on KV alone ([Store]), or
// as a replica of another store, read near the client ([Publisher], [Replica]). Both
// use one layout over a small interface, [Namespace], which package kv and the Worker
// implement on the platform's binding.
//
// KV is built for cheap reads all over the world. A read may be a minute old, each
// name for its own; so may be the answer that a name does not exist. KV cannot
// compare and write in one step, and accepts one write per second and name. A list
// returns the names with a prefix in byte order.
//
// # Layout
//
// An entity is one name: the space "e", the incarnation of the table, and the
// entity's encoded key with the separator U+001E:
//
//	e · AQAAAAAAAAAAAAAA · PartitionKey · U+001E · RowKey
//
// A table, a partition and many other ranges are therefore prefixes, and a list is in
// the order of entities. An entity of up to [maxInline] bytes is kept in the metadata
// of its name, so that a list answers a query; a larger one is the value and costs a
// read. Records are names of the same form in the space "d". A name holds an encoded
// key of [maxKey] bytes: a store refuses longer keys; in a replica a mark shows where
// such keys are, and they are read from the primary.
//
// A list can start at a prefix or at a cursor only. A scan lists the common prefix of
// its range and skips the names before the start; the position at the end of a page
// carries the cursor along. If KV refuses the cursor, the scan skips again.
//
// # Guarantees of a store
//
// The only guarantee is durability. Tables, reads, scans with filters, upserts, and updates and deletes with
// If-Match: * always work. Readers may see the old state for a minute, the writer included; of two writes of an
// entity within a minute the last one wins, and a merge may lose the other's properties. A second write of an entity
// within a second is [table.ErrBusy].
//
// Inserts, ETags and batches need to compare before they write: they are
// [table.ErrUnsupported], unless [Options.BestEffort] accepts conditions judged by the
// state that KV shows and batches that may be applied in part.
//
// The catalog is as eventual as the rest. Two clients that create the same table
// within a minute may both succeed; one of the two tables is then lost with its
// entities. After a delete, others may read and write the table for a minute; the next
// table of that name does not show these entities. [Store.Purge] deletes them.
//
// Timestamps are issued by the isolate that writes, above all that it issued or read,
// so the clocks of isolates are expected to agree.
//
// This package starts no goroutines, does not wait and reads no clock of its own.
package workerskv

// Package workerskv keeps tables in Workers KV: as a store on KV alone ([Store]),
// or as a replica of another that is read where it is near ([Publisher],
// [Replica]). Both have one layout, over one small interface, [Namespace]; package
// kv implements it on the platform's binding.
//
// KV is cheap to read all over the world, and that is all. A read, and the
// answer that there is nothing, may be a minute old, each by itself. It cannot
// compare and write in one step. A name takes one write a second. A list goes
// through names in order, from the first that begins with a prefix.
//
// # Layout
//
// An entity is one key. Its name is the space "e", the incarnation of the table,
// and the entity's encoded key, in which the separator is U+001E:
//
//	e · AQAAAAAAAAAAAAAA · PartitionKey · U+001E · RowKey
//
// so that a table, a partition and many other ranges are prefixes, and a list is
// in the order of entities. What fits into the metadata of a key, [MaxInline] bytes,
// is there: a list answers a query. A larger entity is the value, and costs a read.
// Documents are keys of the same form in the space "d". Names hold encoded keys
// of [MaxKey] bytes: a store refuses longer ones, in a replica a mark says where
// some are and the primary is asked.
//
// A list has no other start than a prefix and a cursor. So a scan lists what all
// names of its range begin with, skips what is before it, and ends a page at a
// position that carries the cursor along. Where the cursor is not taken any more,
// or is not one, it skips again.
//
// # What a store guarantees
//
// Tables, reads, scans with filters, upserts, and updates and deletes of whatever
// is there work always. They are eventual: for a minute others see what was there
// before, and of two who write an entity the last one wins, a merge included. An
// isolate sees its own writes once they are answered, as it remembers them; one that
// is under way may be seen, and then not yet. Writes of one entity
// that meet in an isolate share a put, each with its own answer; who cannot wait for
// its turn gets [table.ErrBusy].
//
// Inserts, conditions on an ETag, and transactions have to compare before they
// write. They work for a single writer ([Options.SingleWriter]): one isolate
// through which all writes go, whose place another takes only after two minutes.
// Else they are [table.ErrUnsupported], with the reason. What was declared is not
// checked. Where in truth there are two writers, conditions may be judged by what is
// two minutes old, and a transaction can be lost, as a whole.
// A name, or a partition, of which the writer itself does not know what became of a
// write takes no other for two minutes: [table.ErrBusy].
//
// A transaction is one put of the journal of its partition (see journal): it is
// done or not, and no reader anywhere sees half of it, however old what KV shows
// of the journal and of each entity. Journals cost every read of a store with a
// single writer a read more, but in the isolate that wrote them, and a partition
// one put a second.
//
// The catalog is as eventual as the rest. Two who create one table in the same
// minute, far from each other, may both succeed; then one of the two tables is lost
// with what was written into it. After a table was deleted, others may read and
// write it for a minute; none of it is in the next table of that name. Its entities
// are deleted by [Store.Purge].
//
// The clocks of isolates are taken to agree: a Timestamp is issued by the isolate
// that writes, above all that it issued or found before.
//
// # Where it runs
//
// Nothing here starts a goroutine or reads a clock, and it waits by
// [Options.Pause], so it runs where there is no scheduler. Where there is one, an
// isolate has one Store for all its requests.
package workerskv

// Package engine is the code inside a Durable Object. It keeps the records of an
// account, or the entities of a bucket, in the object's SQLite.
//
// An [Engine] is the memory of one object while it is awake. Everything durable is in
// [Rows]; the rest is lost when the platform lets the object sleep, moves it or
// restarts it, at any moment. An engine has three parts, of which one object uses two:
// a bucket of entities or a catalog of records, and an outbox for the replica.
//
// # Steps
//
// [Engine.Handle] runs in one transaction, without waiting. If Handle needs another object, it ends the
// transaction and returns the calls to make ([Step].Calls). The shell makes the calls and passes the same message
// to Handle again, with the answers and the state of the step. Anything may have happened in between, so Handle
// repeats all checks. If the shell never passes the message again, nothing is left to clean up.
//
// # Buckets
//
// The name of a bucket object does not contain the incarnation of its table, so that a Worker finds the
// object without asking the catalog. The bucket keeps a marker instead: the incarnation that it serves.
// A bucket with a marker serves without asking the catalog. A bucket without a marker asks the catalog
// first; if the table has another layout, the bucket answers "moved". To delete a table, the catalog
// first marks its record as deleted, and then tells the buckets to drop the table. A bucket that has
// dropped a marker never gets the same marker again: it ignores a catalog answer from before the drop
// (see generation), which would revive the table.
//
// The bucket issues Timestamps: max(now, last + 1). A row reserves them up to a second ahead. Each of B
// buckets issues only Timestamps that equal its number modulo B, so that no two buckets of a table
// issue the same one; the ranges of a bucket divide its Timestamps further, by their ids. A dropped
// bucket keeps its highest Timestamp until the catalog has recorded it; the next incarnation of the
// table starts above it.
//
// # Ranges
//
// A bucket that never split has a marker and is the range 0 with all keys. Other objects also have a
// span: the bounds of their keys, and how far they are in moving their upper keys to another range. The
// alarm takes the steps of docs/adr/0034, one call at a time. A new engine continues from the step that
// the rows record. In short:
//
//   - a range stops serving keys (seals them) before it hands them over with OpTake. It serves them again only if
//     the other range refused them for ever, so that no key has two owners;
//   - keys move only to a new range or to the right neighbour, so that no key returns to its old range;
//   - the range records which entities change while it copies them, and numbers the chunks that it sends, so that
//     no change is missed and no old state overwrites a newer one;
//   - the catalog records a range before the range has a row, so that a drop reaches all ranges.
//
// # Expiry
//
// The row of the marker also holds the options that the table declares. When they change, the catalog
// makes all objects read them before the client gets its answer. Package expiry decides which rows have
// expired, and finds those that the alarm removes.
//
// # Repeated writes
//
// A Worker that gets no reply sends a write again. For a minute the engine remembers each write and its
// answer, and gives the same answer again. If the engine does not know a repeated write, it carries the
// write out only if it has forgotten no answer since before the first attempt; otherwise the outcome is
// unknown. The outcome of a first attempt is also unknown if it arrives so late that the answer to a
// later attempt may be forgotten.
//
// # Catalogs
//
// A table is deleted in steps: the catalog marks the record as deleted, all buckets drop the table, the
// catalog removes the record. With B = 1 the table and its record disappear together, because a message
// that finds such a record is answered only after the deletion is finished. An alarm finishes
// interrupted deletions.
//
// # Full objects
//
// The platform gives an object 10 GB and ends an object that writes more. Shortly before that limit,
// the engine refuses writes that may make the object larger, with an error that clients do not retry;
// reads and deletions still work. An object that is only read writes nothing, and an object whose table
// is deleted has no rows: there may be many objects of both kinds.
//
// # Earlier states
//
// The platform keeps earlier states of an object. It can return the object to such a state when the
// object ends and wakes up ([durableobject.History]). The catalog runs the restore of a table in phases
// (docs/adr/0039), and the objects ask the catalog what to do: all objects freeze; those that had keys
// at the requested time return to that state and then serve as a new incarnation. The row that freezes
// an object is younger than the restored state, so it is absent after the return.
//
// # Replica
//
// An object can publish its data ([Options].Replica): see package outbox. Data in a jurisdiction is published only if
// the replica is declared to be in that jurisdiction ([Options].Jurisdiction). Readers ask the objects for tables that
// the replica does not have.
package engine

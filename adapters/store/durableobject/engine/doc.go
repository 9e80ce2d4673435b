// Package engine is the code inside a Durable Object. It stores the records of an account, or the entities of a bucket,
// in the object's SQLite database.
//
// An [Engine] is the in-memory state of one object while the object is awake. The platform can evict, move or restart
// the object at any moment, so all durable state is in [Rows]. An engine has three parts: a bucket of entities, a
// catalog of records, and an outbox for the replica. An object uses the outbox and one of the other two.
//
// # Steps
//
// [Engine.Handle] runs in one transaction and never waits. If Handle needs another object, it ends the transaction and
// returns the calls to make ([Step].Calls). The shell makes the calls and passes the same message to Handle again, with
// the answers and the state of the step. The rows may have changed in between, so Handle repeats all checks. If the
// shell never passes the message again, no cleanup is necessary.
//
// # Buckets
//
// The name of a bucket object does not contain the incarnation of its table, so that a Worker can find the object
// without the catalog. Instead, the bucket stores a marker: the incarnation that it serves. A bucket without a marker
// asks the catalog before it serves a request. If the table has another layout, the bucket answers "moved".
//
// To delete a table, the catalog first marks its record as deleted, and then tells the buckets to drop the table. A
// bucket ignores answers of the catalog from before the drop (see generation), because they would revive the table.
//
// The bucket issues Timestamps: max(now, last + 1). A row reserves them up to a second ahead. Each of B buckets
// issues only Timestamps that equal its number modulo B, so no two buckets of a table issue the same Timestamp. The
// ranges of a bucket divide its Timestamps further, by their ids.
//
// A dropped bucket keeps its highest Timestamp until the catalog has recorded it. The next incarnation of the table
// issues only higher Timestamps.
//
// # Ranges
//
// A bucket that never split has a marker and is the range 0 with all keys. Other objects also store a span: the
// bounds of their keys, and the progress of moving their upper keys to another range. The alarm takes the steps of
// docs/adr/0034, one call at a time. After a restart, the new engine continues from the step that the rows record. In
// short:
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
// The row of the marker also contains the options that the table declares. When they change, the catalog makes all
// objects read the new options before it answers the client. Package expiry decides which rows have expired, and finds
// the rows that the alarm removes.
//
// # Repeated writes
//
// A Worker that gets no reply sends a write again. For a minute, the engine remembers the answer to each write, and
// answers a repeated write with it. A repeated write that the engine does not recognize was not applied, provided
// that the engine has forgotten no answer since the first attempt. Otherwise its outcome is unknown. See package
// answers.
//
// # Catalogs
//
// A table is deleted in steps: the catalog marks the record as deleted, all buckets drop the table, and the catalog
// removes the record. With B = 1 the table and its record disappear together, because a message that finds such a
// record is answered only after the deletion is finished. An alarm finishes interrupted deletions.
//
// # Full objects
//
// The platform limits an object to 10 GB and terminates an object that writes more. Shortly before the limit, the
// engine refuses writes that may make the object larger. Reads and deletions still work.
//
// An object that is only read writes no rows. An object whose table was deleted has no rows.
//
// # Earlier states
//
// The platform keeps earlier states of an object. It can return the object to such a state when the object terminates
// and wakes up ([durableobject.History]). The catalog runs the restore of a table in phases (docs/adr/0039), and each
// object asks the catalog what to do.
//
// First all objects freeze. Then the objects that had keys at the requested time return to their states at that time,
// and serve as a new incarnation. The row that freezes an object is absent after the return, because it is newer than
// the restored state.
//
// # Replica
//
// An object can publish its data to a replica ([Options].Replica): see package outbox. Data in a jurisdiction is
// published only if the replica is declared to be in the same jurisdiction ([Options].Jurisdiction). Tables that the
// replica does not have are read from the objects.
package engine

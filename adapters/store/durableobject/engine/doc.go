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
// [Engine.Handle] runs in one transaction, without waiting. If it needs another object,
// it ends the transaction and returns the calls to make ([Step].Calls). The shell makes
// them and hands the same message to Handle again, with the answers and the state of
// the step. Anything may have happened in between, so Handle checks everything again. A
// message that never comes back has no cost.
//
// # Buckets
//
// The name of a bucket object does not contain the incarnation of its table, so that a
// Worker finds it without the catalog. The bucket keeps a marker instead: the
// incarnation that it serves. Without one it asks the catalog first; if the catalog
// names another layout, its answer is "moved". To delete a table, the catalog stops
// naming it and then tells its buckets to drop: a bucket with a marker needs no
// permission, and one that lost it never gets it again. An answer of the catalog from
// before a drop does not count (generation): it would revive the table.
//
// Timestamps are issued here, max(now, last + 1), with the high water kept up to a
// second ahead. Of B buckets, each issues the Timestamps that are its number modulo B,
// so that a table has each only once; its ranges divide them further, by their ids. A dropped bucket keeps the high water until the
// catalog has recorded it; the next incarnation of the table starts above it.
//
// # Ranges
//
// A bucket that never split has a marker and is the range 0 with all keys. Others have a
// span as well: the bounds of their keys, and how far they are in giving the upper ones to
// another range. The alarm takes the steps of docs/adr/0034, one call at a time, and each
// engine goes on where the rows say that the last one was. In short:
//
//   - a range seals in one transaction what it then gives away with Take, and takes it back
//     only if the other one refused it for ever, so that no key has two owners;
//   - keys go to a new range or to the right neighbour, so that none comes back;
//   - it marks what changes while it copies, and numbers what it sends, so that no change is
//     missed and no old state wins;
//   - the catalog names a range before it has a row, so that a drop reaches all.
//
// # Expiry
//
// What the table declares is in the row of the marker. The catalog has all objects ask it before a
// declaration is answered. Package expiry judges rows, and finds those that the alarm removes.
//
// # Repeated writes
//
// A Worker that gets no reply sends a write again. The engine remembers for a minute
// which write it answered how, and gives the same answer. It carries out a repeated
// write that it does not know if it remembers everything since before the first
// attempt; otherwise the outcome is unknown. The outcome of a first attempt is unknown,
// too, if it arrives so late that the answer to the next may be forgotten.
//
// # Catalogs
//
// A table is deleted in steps: its record is marked, all buckets drop, the record is
// removed. With B = 1 the table and its record are gone at the moment of the drop,
// because every message that finds the mark finishes the deletion before it answers. An
// alarm finishes interrupted deletions.
//
// # Room
//
// The platform gives an object 10 GB and ends one that writes more. Shortly before, the
// engine refuses writes that may make the object larger, with an error that clients do
// not retry; reads and deletions still work. An object that is only read writes
// nothing, and one whose table is gone has no rows: there may be many of both.
//
// # Earlier states
//
// The platform keeps the states of an object, and puts the object back to one when it
// ends and wakes up ([durableobject.History]). The catalog leads a restore of a table in
// phases (docs/adr/0039), and the objects ask it what to do: all freeze, those that had
// keys at the time go back, and serve as a new incarnation. The row that freezes an object
// is younger than the state, so that it is gone when the object is there.
//
// # Replica
//
// An object can publish its data ([Options].Replica). The transaction that changes a
// row writes the row's key into the outbox, which keeps only the last change of a key.
// About a second later an alarm hands out a batch of these rows as they are then, in a
// call to [durableobject.Replica]; published rows leave the outbox unless they changed
// since. So an object that dies at any moment publishes something twice and misses
// nothing, and the states of a key arrive in order, because no other object publishes
// them.
//
// A late write could still undo a newer one, because Workers KV keeps the last write.
// Therefore a row says that a batch is out before it is sent. If the batch does not
// come back, or its result is uncertain, nothing is handed out for a minute: after that
// no write of the batch can arrive. An engine that lost its storage cannot write that
// row, and hands out nothing.
//
// When changes could not be published for half a minute, the object tells the replica
// that it lags, and since when; and when all changes are visible, that it does not any
// more. When a table is deleted, its record leaves the replica first; the catalog purges
// its rows when no write can arrive any more.
//
// When publishing begins, existing rows are published once, a few at a time (the initial
// sync). A catalog wakes the buckets of its tables, so that they begin, too. Entities
// deleted while nothing was published stay in the replica: to publish again later takes
// an empty replica with another name.
//
// Data in a jurisdiction is published only if the replica is declared to be in it
// ([Options].Jurisdiction). Readers ask the objects for tables that the replica does not
// have.
//
// A change costs one row, and another one when it was published; a batch of at most 100
// changes costs three, with its alarm.
package engine

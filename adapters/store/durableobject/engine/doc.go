// Package engine is the inside of a Durable Object: the engine that keeps the
// documents of an account, or the entities of a bucket, in the object's SQLite.
//
// An [Object] is the memory of one object while it is awake. All it keeps for
// good is in [Rows]; what it remembers besides is lost when the platform lets
// the object sleep, moves it or restarts it, at any moment.
//
// # Steps
//
// [Object.Handle] runs in one transaction, without waiting. Where it needs to
// know something from another object, it ends the transaction and says which
// calls it wants to be made ([Step].Calls); whoever runs it makes them and hands
// the same message to Handle again, with the answers and what Handle gave along
// with the calls. Between the two anything may have happened, and Handle looks
// at everything again. A message that is never handed back costs nothing.
//
// # Buckets
//
// A bucket does not have the incarnation of its table in its name, so that a
// Worker finds it without a look at the catalog. It keeps a marker instead: the
// incarnation it serves. Without one it asks the catalog first; where the catalog
// names another place for the table, its answer is "moved". A table is deleted by
// telling its buckets to drop, after the catalog stopped to name it: so a bucket
// that has a marker needs no permission, and one that lost it gets it never again.
// What a catalog said before a drop arrived does not count (generation): else an
// answer that was under way meanwhile would bring the table back.
//
// Timestamps are issued here, max(now, last + 1), with the high water kept up to
// a second ahead. Of B buckets each issues those that are its number modulo B, so
// that a table has each only once. A dropped bucket keeps the high water until
// the catalog has recorded it; the next life of the table starts above it.
//
// # Writes that come twice
//
// Who gets no reply sends a write again. The object remembers for a minute what
// it answered to which write, and gives the same answer; a write that comes
// again and is not known is carried out if the object remembers everything since
// before it was sent first, else its outcome is unknown. So is that of a first
// attempt which comes so late that an answer to the next may be forgotten.
//
// # Catalogs
//
// A table is deleted in steps: the record is marked, all buckets drop, then the
// record is removed, and with B = 1 the drop of the bucket is the moment at which
// table and document are gone, for whoever meets the mark brings the deletion to
// its end before he answers. An alarm does so for what was cut off.
//
// # Room
//
// The platform gives an object 10 GB, and ends one that writes more. What may make
// an object larger is refused a little before that, with an error that clients do
// not try again; reads and deletions go on. An object that is only asked writes
// nothing, and one whose table is gone has no rows: there may be many of either.
//
// # Replica
//
// An object can publish what it holds ([Options].Replica). The transaction that
// changes a row of an entity or a document writes its key into the outbox, where
// only the last change of a key is. About a second later an alarm hands out a
// batch of these rows as they are then, in a call of [durableobject.Replica], and
// what was published leaves the outbox unless it changed since. So an object that
// dies at any moment publishes something twice, and misses nothing; and as nobody
// else publishes its rows, a key's states arrive in order.
//
// Unless a write arrives late: in Workers KV the last one counts. That a batch is
// out is therefore a row before it is, and when it does not come back, or says
// that it does not know, nothing is handed out until a minute after it was: what
// is still under way by then would undo what is published next. A predecessor
// that lost its storage cannot write that row, and hands out nothing.
//
// The replica is told by which source it lags behind, and since when, as soon as
// changes could not be published for half a minute, and that it does not any more
// when all of it is to be seen. Of a table that is deleted the record goes first;
// its rows are purged by the catalog when nothing can arrive any more.
//
// Where publishing begins with rows that are there already, all of them are
// published once, a few at a time. A catalog wakes the buckets of its tables to
// begin with it too. What was deleted while nothing was published stays in the
// replica: to begin once more takes an empty one, and another name.
//
// What is in a jurisdiction, a table with its record or a catalog, is published only
// if the replica is said to be there too ([Options].Jurisdiction); who reads asks
// the objects for tables that the replica does not have.
//
// A change costs one row more, and another when it was published; a batch of at
// most 100 costs three, with its alarm.
package engine

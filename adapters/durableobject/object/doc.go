// Package object is the inside of a Durable Object: the engine that keeps the
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
// before it was sent first, else its outcome is unknown.
//
// # Catalogs
//
// A table is deleted in steps: the record is marked, all buckets drop, then the
// record is removed, and with B = 1 the drop of the bucket is the moment at which
// table and document are gone, for whoever meets the mark brings the deletion to
// its end before he answers. An alarm does so for what was cut off.
package object

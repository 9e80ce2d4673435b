// Package durableobject keeps tables in Cloudflare Durable Objects with SQLite.
// It is the Worker's side: a [Store] that sends messages to objects through a
// [Caller]. What the objects do with them is in package object.
//
// # Objects
//
// The documents of an account are in one object, its catalog. The partitions of
// a table are spread over B buckets by package buckets, each an object of its
// own. B is 1 unless it is chosen otherwise: then a scan is one message, a page
// is a snapshot, and about 1,000 requests a second are the limit of a table. B
// and the location are chosen when a table is made ([Options]), recorded with it,
// and never change in its life.
//
// Names of buckets say B and the location, but not which life of the table they
// are of. So an operation on entities needs no look into the catalog: the Store
// takes a table to be where it was last time, or where it would make one, and an
// object in which it is not says where it is. What the Store remembers is
// never trusted: it cannot bring back a deleted table, nor read one.
//
// # Failures
//
// A write carries a random number, by which the object recognizes it for a
// minute, so that it can be sent again when its reply was lost. Where the object
// cannot know whether it was carried out, because it restarted meanwhile, it
// says so: [table.ErrUnknown]. An object that is overloaded is [table.ErrBusy]; one
// that is full refuses what would make it larger with an error that is not tried
// again, [table.InsufficientAccountPermissions].
//
// The Store starts no goroutine, sleeps nowhere and reads only the clock it is
// given: it runs where there is no scheduler.
package durableobject

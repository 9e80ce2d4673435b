// Package durableobject stores tables in Cloudflare Durable Objects with SQLite. It is the
// Worker's side: a [Store] that sends messages to objects through a [Caller]. Package engine is
// the code inside the objects.
//
// # Objects
//
// The records of an account are in one object, its catalog. Package buckets distributes the
// partitions of a table over B bucket objects. B is 1 by default: a scan is then one message, a
// page is a snapshot, and a table serves about 1,000 requests per second. B and the location are
// chosen when a table is created ([Options]), stored with its record, and never change. A bucket
// may split into several objects.
//
// The address of a bucket object contains B and the location, but not the incarnation of the table. So an
// operation on entities need not read the catalog. The Store assumes the B and the location that the
// table had the last time, or that a new table would get. An object that does not have the table answers
// with the right B and location. The objects never trust the Store's assumption, so a wrong assumption
// can neither revive a deleted table nor read from it.
//
// # Ranges
//
// A range that is too large or too busy splits by itself. A bucket then has several objects, each with a
// range of keys. No partition is in more than one range. [Maps] is a cache of the layouts and ranges of
// tables. An object that does not have a key answers with the ranges around that key. docs/adr/0034
// describes how keys move.
//
// # Failures
//
// A write carries a random number, by which the object recognizes the write for a minute. So the
// write can be sent again when its reply was lost. If the object cannot know whether it carried
// out the write, because it restarted in between, it answers [table.ErrUnknown]. An overloaded
// object answers [table.ErrBusy]. A full object refuses writes that would make it larger, with an
// error that clients do not retry: [table.InsufficientAccountPermissions].
//
// # Deployments
//
// For the minutes of a deployment, Workers and objects run different versions. The only data that both
// share are the messages of package message, which contain their version. A receiver that does not know
// the version or the operation of a message does nothing and says so. The sender then answers its client
// with 503. A wasm module and the JavaScript around it (the shell) are always deployed together, so
// nothing else passes between two versions.
//
// The Store starts no goroutine, never sleeps, and reads only the clock that it is given, so it
// runs without a scheduler.
package durableobject

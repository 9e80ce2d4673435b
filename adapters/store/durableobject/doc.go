// Package durableobject stores tables in Cloudflare Durable Objects with SQLite. It is the part that runs in the
// Worker: a [Store] that sends messages to objects through a [Caller]. Package engine is the part that runs inside the
// objects.
//
// # Objects
//
// One object, the catalog, stores all records of an account. The partitions of a table are distributed over B bucket
// objects: see package buckets. By default B is 1: a scan is then one message, a page is a snapshot, and a table serves
// about 1,000 requests per second. B and the location are chosen when a table is created ([Options]). They are stored
// in the table's record and never change. A bucket may split into several objects.
//
// The address of a bucket object contains B and the location, but not the incarnation of the table, so operations on
// entities do not read the catalog. The Store assumes the B and the location that the table had at the last operation,
// or those of a new table. If the assumption is wrong, the object answers with the right B and location. The objects
// never trust the assumption, so it can neither revive a deleted table nor read from one.
//
// # Ranges
//
// A range that is too large or too busy splits by itself. A bucket then has several objects, each with a range of keys.
// All entities of a partition are in the same range. [Maps] caches the layouts and ranges of tables. If an object does
// not have the requested key, it answers with the ranges around the key. docs/adr/0034 describes how keys move.
//
// # Failures
//
// Each write carries a random number, by which the object recognizes a repeated write for a minute. The Store can
// therefore send a write again when its reply was lost. If the object restarted in between and cannot know whether it
// applied the write, it answers [table.ErrUnknown]. An overloaded object answers [table.ErrBusy]. A full object refuses
// writes that would make it larger, with an error that clients do not retry: [table.InsufficientAccountPermissions].
//
// # Deployments
//
// For the minutes of a deployment, Workers and objects run different versions. They share only the messages of package
// message, which contain their version. A receiver that does not know the version or the operation of a message does
// nothing and answers so. The sender then answers its client with 503. A wasm module and the JavaScript around it (the
// shell) are always deployed together, so the calls between them need no versions.
//
// The Store starts no goroutine, never sleeps, and reads no clock except [Options].Now, so it runs without a scheduler.
package durableobject

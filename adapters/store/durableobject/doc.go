// Package durableobject stores tables in Cloudflare Durable Objects with SQLite. It is the part that runs in the
// Worker: a [Store] that sends messages to objects through a [Caller]. Package engine is the part that runs inside the
// objects.
//
// # Objects
//
// One object, the catalog, stores all records of an account. The partitions of a table are distributed over B bucket
// objects: see package buckets. By default, B is 1: a scan is then one message, a page is a snapshot, and a table
// serves about 1,000 requests per second. B and the location are chosen when a table is created ([Options]), and
// never change.
//
// The address of a bucket object contains B and the location, but not the incarnation of the table. So operations on
// entities need not read the catalog. The Store assumes the B and the location of the table's last operation, or
// those of a new table. If the assumption is wrong, the object answers with the right ones. An object also checks
// that its table exists, so a wrong assumption can neither revive a deleted table nor read from one.
//
// # Ranges
//
// A range that is too large or too busy splits by itself. A bucket then has several objects, each with a range of keys.
// All entities of a partition are in the same range. [Maps] caches the layouts and ranges of tables. If an object does
// not have the requested key, it answers with the ranges around the key. docs/adr/0034 describes how keys move.
//
// # Failures
//
// Each write carries a random number, by which the object recognizes a repeated write for a minute. So the Store can
// send a write again when its reply was lost. An object that has restarted might not know whether it applied the write,
// and then answers [table.ErrUnknown].
//
// An overloaded object answers [table.ErrBusy]. A full object refuses writes that would make it larger, with an error
// that clients do not retry: [table.InsufficientAccountPermissions].
//
// # Deployments
//
// For the minutes of a deployment, Workers and objects run different versions. They share only the messages of
// package message, which contain their version. A receiver that does not know a version or an operation does nothing,
// and the sender's client gets 503.
//
// A wasm module and the JavaScript around it (the shell) are always deployed together, so the calls between them need
// no versions.
//
// The Store starts no goroutine, never sleeps, and reads no clock except [Options].Now, so it runs without a scheduler.
package durableobject

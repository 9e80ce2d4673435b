// Package durableobject keeps tables in Cloudflare Durable Objects with SQLite. It is
// the Worker's side: a [Store] that sends messages to objects through a [Caller].
// Package engine is the code inside the objects.
//
// # Objects
//
// The records of an account are in one object, its catalog. Package buckets spreads
// the partitions of a table over B bucket objects. B is 1 by default: a scan is then
// one message, a page is a snapshot, and a table serves about 1,000 requests per
// second. B and the location are chosen when a table is created ([Options]), kept with
// its record, and never change. A bucket
// may become several objects.
//
// The name of a bucket object contains B and the location, but not the incarnation of
// the table. So an operation on entities needs no look into the catalog: the Store
// assumes that a table is where it was last time, or where it would create one, and an
// object that does not have it answers where it is. The Store's assumptions are never
// trusted: they can neither revive a deleted table nor read one.
//
// # Ranges
//
// A bucket that is too large or too busy splits by itself, and so do its parts: its
// objects then have ranges of keys, cut between partitions. [Maps] remembers the ranges and
// layouts of tables, and an object that does not have a key answers with the ranges around
// it. docs/adr/0034 describes how keys move.
//
// # Failures
//
// A write carries a random number, by which the object recognizes it for a minute, so
// that it can be sent again when its reply was lost. If the object cannot know whether
// it carried out the write, because it restarted in between, the answer is
// [table.ErrUnknown]. An overloaded object is [table.ErrBusy]. A full object refuses
// writes that would make it larger with an error that clients do not retry,
// [table.InsufficientAccountPermissions].
//
// # Deployments
//
// For minutes of a deployment, Workers and objects of two versions meet. The only form
// that both share is that of package message, with its version: a side that does not
// know a version or an operation says so and does nothing, and the other side answers
// 503. Between the Worker's module and its shell, and between an object's
// shell and its engine, nothing crosses versions: they are deployed together.
//
// The Store starts no goroutine, never sleeps, and reads only the clock it is given: it
// runs without a scheduler.
package durableobject

// Package outbox publishes the rows of an object to the replica.
//
// A transaction that changes a row also writes the row's key into the outbox. About a second later, an alarm sends the
// current state of these rows in a batch, with a call to [durableobject.Replica]. A published row is removed from the
// outbox unless it has changed since. So an object that terminates at any moment may publish some rows twice, but
// misses none.
//
// # Order
//
// No other object publishes the same key, so its states are sent in order. But Workers KV keeps the write that arrives
// last, and a late write could overwrite a newer one. So the object records in a row that a batch is in flight, before
// it sends the batch. If the result of the batch is lost or uncertain, the object sends no other batch for a minute.
// After that time, no write of the batch can arrive.
//
// # Lag
//
// When changes could not be published for half a minute, the object reports to the replica that it lags, and since
// when. It withdraws the report when all changes are visible again.
//
// # Deletion
//
// When a table is deleted, its record is removed from the replica first. The catalog purges the table's entities from
// the replica when no write to them can arrive any more.
//
// # Initial sync
//
// When publishing begins, the existing rows are published once, a few at a time. A catalog wakes the buckets of its
// tables, so that they publish too. Entities that are deleted while nothing is published remain in the replica. So
// resume publishing only with an empty replica under another name.
//
// # Cost
//
// A change costs one written row, and one more when it is published. A batch of at most 100 changes costs three written
// rows, including its alarm.
package outbox

// Package outbox publishes the rows of an object to the replica.
//
// A transaction that changes a row also writes the row's key into the outbox, which keeps only the last change of a
// key. About a second later, an alarm reads the outbox and sends the current state of these rows in a batch, with a
// call to [durableobject.Replica]. A published row is removed from the outbox unless it has changed since. An object
// that terminates at any moment therefore publishes some rows twice and misses none. The states of a key arrive in
// order, because no other object publishes that key.
//
// A late write could still overwrite a newer one, because Workers KV keeps the write that arrives last. The object
// therefore records in a row that a batch is in flight, before it sends the batch. If the batch is not answered or its
// result is uncertain, the object sends no other batch for a minute: after that time, no write of the batch can arrive.
// An engine that lost its storage cannot write that row, and so sends nothing.
//
// When changes could not be published for half a minute, the object reports to the replica that it lags, and since
// when. When all changes are visible again, it withdraws the report. When a table is deleted, its record is removed
// from the replica first. The catalog purges the table's entities from the replica when no write to them can arrive any
// more.
//
// When publishing begins, the existing rows are published once, a few at a time (the initial sync). A catalog wakes the
// buckets of its tables, so that they publish too. Entities that are deleted while nothing is published remain in the
// replica, so resume publishing only with an empty replica under another name.
//
// A change costs one written row, and one more when it is published. A batch of at most 100 changes costs three written
// rows, including its alarm.
package outbox

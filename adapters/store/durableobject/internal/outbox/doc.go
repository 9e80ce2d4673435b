// Package outbox publishes the rows of an object to the replica.
//
// A transaction that changes a row also writes the row's key into the outbox, which keeps only the last change of a
// key. About a second later an alarm reads these rows and sends their current state in a batch, with a call to
// [durableobject.Replica]. A published row leaves the outbox unless it has changed since. So an object that dies at any
// moment publishes some rows twice and misses none. The states of a key arrive in order, because no other object
// publishes that key.
//
// A late write could still overwrite a newer one, because Workers KV keeps the write that arrives last. Therefore a row
// records that a batch is in flight before it is sent. If the batch is not answered, or its result is uncertain, the
// object sends no batch for a minute: after that no write of the batch can arrive. An engine that lost its storage
// cannot write that row, and sends nothing.
//
// When changes could not be published for half a minute, the object tells the replica that the object lags, and since
// when. When all changes are visible again, it tells the replica that it no longer lags. When a table is deleted, its
// record is removed from the replica first. The catalog purges the table's entities from the replica once no write to
// them can arrive any more.
//
// When publishing begins, existing rows are published once, a few at a time (the initial sync). A catalog wakes the
// buckets of its tables, so that they publish as well. Entities deleted while nothing was published stay in the replica.
// So to resume publishing after a pause, use an empty replica with another name.
//
// A change costs one written row, and one more when it is published. A batch of at most 100 changes costs three written
// rows, including its alarm.
package outbox

// Package postgres stores records and entities in a PostgreSQL database, which up to 64 servers can share.
//
//	store, err := postgres.Open(ctx, postgres.Options{DSN: "postgres://edgetable@db1,db2/edgetable?target_session_attrs=read-write"})
//
// # Tables
//
// The schema is in schema/*.sql. All entities are rows of one SQL table, entity. The primary key consists of the number
// of the table's incarnation (the column life) and the encoded key. A table that is created again gets a new number, so
// statements on the new table do not find entities of the old table.
//
// # Writes
//
// A write of one entity is one statement whose WHERE clause is the condition of the write. If the statement writes
// nothing, the store reads the entity and calls [table.Apply] to find the reason. A merge reads the row, applies the
// change, and writes the row if it still has the same Timestamp. No lock is held across a round trip.
//
// The store groups concurrent single writes of several callers in one transaction, which is called a round (rounds.go).
// Each write in a round has a separate outcome, because a condition that does not hold is not an SQL error. If a commit
// is slow, the store sends the next round before the commit ends.
//
// # Tables with options
//
// A table's record can declare options ([table.Traits]): an expiry rule or a feed. The record then has a form that the
// ordinary statements do not find (statement/ruled.go). Each server caches the options that it has read (package
// ruled).
//
// SQL code cannot decide whether an entity has expired. The store reads the entity and decides in Go code. Its
// statement then requires that the entity still has the same Timestamp, and the record the same revision.
//
// # Feeds
//
// A write to a table with a feed adds a line to the SQL table change, in the same statement (statement/feed.go).
// Package feed reads these lines, removes old lines and waits for new lines.
//
// # Connections
//
// The store reserves some connections for each kind of operation, such as reads or batches. The other connections are
// available to all kinds. Among the waiting accounts, the account that has held connections for the shortest time is
// next (package lend). A page of a scan ends early if another account is waiting.
//
// # Timestamps
//
// Each server holds one of 64 slots, and its Timestamps contain the number of the slot. Two servers therefore never
// issue the same Timestamp. A new Timestamp must be above the Timestamp of the row and above the floor of the table's
// incarnation. If it is not, the statement writes nothing, and the server advances its clock and retries.
//
// A delete leaves a tombstone: a row with a Timestamp and without properties. Before Purge removes a tombstone, it
// raises the floor of the incarnation above the tombstone's Timestamp, and waits until all statements that read the old
// floor have ended (settle.go).
//
// # Lost replies
//
// If a connection breaks after a write was sent, the store finds out whether the write was applied (evidence.go):
//
//  1. It raises the floor of the incarnation above the Timestamp of the write, so that statements which begin later
//     cannot apply the write.
//  2. It waits until the transaction in the database process that received the write has ended.
//  3. It looks for the Timestamp of the write in the row and in the row's trail. The trail contains the last Timestamp
//     of each other server that wrote the row within the last minute.
//
// If the reply to a record change is lost, the store waits until the database process that received the change has
// ended (change.go). It recognizes a new record by its incarnation number, which no other attempt uses. It recognizes
// another change by its Timestamp in the trail of the record. After a Drop, the database retains the trail for two
// minutes.
//
// # Failover
//
// A new connection waits until a standby has all commits that the connection can see (barrier.go). The store never asks
// PostgreSQL to cancel a statement. A cancelled commit no longer waits for a standby: it becomes visible, although a
// failover would lose it (connect.go).
package postgres

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
// change, and writes on condition that the row still has the Timestamp that was read. No lock is held across a round
// trip.
//
// The store groups concurrent single writes of several callers in one transaction, which is called a round. If a commit
// is slow, the store sends the next round before the commit ends (rounds.go). Each write in a round has a separate
// outcome, because a condition that does not hold is not an SQL error.
//
// # Tables with options
//
// A table's record can declare options ([table.Traits]): an expiry rule or a feed. The record then has a form that the
// ordinary statements do not find (statement/ruled.go). Each server caches the options that it has read (package
// ruled). Go code decides from the state of an entity whether the entity has expired. The statement then requires the
// Timestamp of this state and the revision of the record.
//
// # Feeds
//
// A write to a table with a feed adds a line to the SQL table change, in the same statement (statement/feed.go).
// Package feed reads these lines, removes old lines and waits for new lines.
//
// # Connections
//
// The store reserves some connections for each kind of operation, such as reads or batches. The other connections are
// available to all kinds. If operations of one kind wait, the account whose operations have held connections for the
// shortest time is next (package lend). A page of a scan ends early if another account is waiting.
//
// # Timestamps
//
// Each server holds one of 64 slots, and its Timestamps contain the number of the slot, so two servers never issue the
// same Timestamp. Each statement requires that the new Timestamp is above the Timestamp of the row and above the floor
// of the incarnation. Otherwise the server advances its clock and retries.
//
// A delete leaves a tombstone: a row with a Timestamp and without properties. Before Purge removes a tombstone, it
// raises the floor of the incarnation above the tombstone's Timestamp, and waits until all statements that read the old
// floor have ended (settle.go).
//
// # Lost replies
//
// If a connection breaks after a write was sent, the store raises the floor of the incarnation above the Timestamp of
// the write, so that the database can no longer apply the write. The store waits for the database process that received
// the write, and then looks for the Timestamp in the row and in the row's trail (evidence.go). The trail contains the
// last Timestamp of each other server that wrote the row within the last minute.
//
// If the reply to a record change is lost, the store waits until the database process that received the change has
// ended (change.go). The store recognizes a new record by its incarnation number, which no other attempt uses. Other
// changes leave their Timestamp in the trail of the record. After a Drop, the database retains the trail for two
// minutes.
//
// A new connection waits until a standby has all commits that the connection can see (barrier.go). The store never asks
// PostgreSQL to cancel a statement. If PostgreSQL cancels a commit that waits for a standby, the commit becomes visible
// although a failover loses it (connect.go).
package postgres

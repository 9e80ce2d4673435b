// Package postgres keeps records and entities in a PostgreSQL database, which any number of servers can share.
//
//	store, err := postgres.Open(ctx, postgres.Options{DSN: "postgres://edgetable@db1,db2/edgetable?target_session_attrs=read-write"})
//
// # Tables
//
// The schema is in schema/*.sql. All entities are rows of one SQL table, entity. The primary key consists of the number of the
// table's incarnation (the column life) and the encoded key. A table that is created again gets another number, so its statements
// find no entities of the earlier table.
//
// # Writes
//
// A write of one entity is one statement whose WHERE clause is its condition. If the statement writes nothing, the store reads the
// state of the entity and asks [table.Apply] for the reason. A merge reads the row, applies the change, and writes on condition
// that the row still has the Timestamp that was read. No lock is held across a round trip.
//
// Writes that wait at the same time are sent as one transaction, called a round. If a commit is slow, the next round is sent before
// that commit ends (rounds.go). Each write in a round has its own outcome, because a condition that does not hold is not an SQL
// error.
//
// # Tables with rules
//
// A table's record contains what the table declares ([table.Traits]), for example an expiry rule. Such a record has a form that the
// ordinary statements do not find (statement/ruled.go). Each server caches the declarations that it found (package ruled). Go code
// decides from the state of an entity whether it has expired. The statement then requires the Timestamp of that state and the
// revision of the record.
//
// # Feeds
//
// A write to a table that keeps a feed adds a line to the SQL table change, in the same statement (statement/feed.go). Package feed
// reads, removes and waits for these lines.
//
// # Connections
//
// Each use of connections, such as reads or batches, owns some of them. The other connections go to the account that has used
// connections for the shortest time (package lend). A page of a scan ends early if another account waits.
//
// # Timestamps
//
// Each server holds one of 64 slots, and its Timestamps contain the number of its slot, so two servers never issue the same one.
// Each statement requires that its Timestamp is above that of the row and above the floor of the incarnation. Otherwise the server
// raises its clock and sends the statement again.
//
// A delete leaves a tombstone: a row with the Timestamp and without properties. Before Purge removes a tombstone, it raises the
// floor of the incarnation above the tombstone's Timestamp, and waits until all statements that read the old floor have ended
// (settle.go).
//
// # Lost replies
//
// If a connection breaks after a write was sent, the store raises the floor of the incarnation above the Timestamp of the write, so
// that the write can no longer be applied. It waits for the database process that received the write, and then looks for the
// Timestamp (evidence.go): in the row, or in the row's trail. The trail has the last Timestamp of each other server that wrote the
// row within a minute. So clients see a failover of the database as a delay.
//
// If the reply to a record change is lost, the store waits until the database process that received the change has ended
// (change.go). It recognizes a new record by the number of its incarnation, which no other attempt uses. Other changes leave their
// Timestamp in the trail of the record. After a Drop, this trail is kept for two minutes.
//
// A new connection waits until a standby has all commits that the connection can see (barrier.go). The store never asks PostgreSQL
// to cancel a statement: a cancelled commit that was waiting for a standby is visible to others, and a failover loses it
// (connect.go).
package postgres

// Package postgres keeps records and entities in a PostgreSQL database, which any number of servers can share.
//
//	store, err := postgres.Open(ctx, postgres.Options{DSN: "postgres://edgetable@db1,db2/edgetable?target_session_attrs=read-write"})
//
// # Tables
//
// The schema is in schema/*.sql. All entities are rows of one SQL table, entity. The primary key is the number of the
// incarnation (the column life) and the encoded key. A table that is created again gets another number, so nothing of
// the earlier one is found.
//
// # Writes
//
// A write of one entity is one statement whose WHERE clause is its condition. If the statement writes nothing, the
// store reads the state of the entity and asks [table.Apply] for the reason. A merge reads the row, applies the
// change, and writes on condition that the row still has the Timestamp that was read. No lock is held across a round
// trip.
//
// Writes that wait at the same time are sent as one transaction, and the next ones need not wait until a slow commit
// ends (rounds.go). Each write has its own outcome, because a condition that does not hold is not an SQL error.
//
// # Tables with rules
//
// What a table declares ([table.Traits]) is in its record, in a form that hides the table from the ordinary
// statements (statement/ruled.go). A server remembers what it found (package ruled). Go code judges from the state of
// an entity whether it has ended. The statement then names the Timestamp of that state and the revision of the
// record.
//
// # Feeds
//
// A write to a table that keeps a feed adds a line to the SQL table change, in the same statement
// (statement/feed.go). Package feed reads, removes and waits for these lines.
//
// # Connections
//
// Each use of connections owns some of them. The others go to the account that has used connections for the shortest
// time (package lend). A page of a scan ends early if another account waits for the connection.
//
// # Timestamps
//
// Each server holds one of 64 slots and issues Timestamps that name its slot, so two servers never issue the same
// one. Each statement requires that its Timestamp is above that of the row and above the floor of the incarnation.
// Otherwise the server raises its clock and sends the statement again.
//
// A delete leaves a tombstone: a row with the Timestamp and without properties. Purge removes a tombstone only after
// it has raised the floor of the incarnation above the tombstone's Timestamp, and all statements that saw the old
// floor have ended (settle.go).
//
// # Lost replies
//
// If a connection breaks after a write was sent, the store raises the floor of the incarnation above the Timestamp of
// the write, so that the write can no longer be applied. It waits for the database process that received the write,
// and then looks for the Timestamp (evidence.go): in the row, or in the row's trail. The trail has the last Timestamp
// of each other server that wrote the row within a minute. So clients see a failover of the database as a delay.
//
// The outcome of a record change is looked for once the process that received it has ended (change.go). A new record
// is recognized by its incarnation, which no other attempt uses. Other changes leave their Timestamp in the trail of
// the record, which a Drop keeps for two minutes.
//
// A new connection waits until a standby has everything that the connection may show (barrier.go).
//
// The store never asks PostgreSQL to cancel a statement: a cancelled commit that was waiting for a standby is visible
// to others, and a failover loses it (connect.go).
package postgres

// Package postgres keeps records and entities in a PostgreSQL database, which any number
// of servers share.
//
//	store, err := postgres.Open(ctx, postgres.Options{DSN: "postgres://edgetable@db1,db2/edgetable?target_session_attrs=read-write"})
//
// # Tables
//
// schema/*.sql have them. All entities are rows of one table, entity, by the number of
// their life and their encoded key. A life is one incarnation of a table: creating a
// table again gives it another number, so that nothing of the old one is found.
//
// # Writes
//
// A write of one entity is one statement whose WHERE is its condition. A statement that
// wrote nothing says only that something did not hold; then the store reads the state and
// asks [table.Apply] why. A merge reads, applies and writes on condition that the row
// still has the Timestamp that was read. Nothing holds a lock over a round trip.
//
// Writes that wait at the same time are sent as one transaction, and the next ones need not
// wait until a slow commit ends (rounds.go). Each write keeps an outcome of its own, because a
// condition that does not hold is no error.
//
// # Tables with rules
//
// What a table declares ([table.Traits]) is in its record, in a form that hides the table from
// the statements for others (statement/ruled.go). A server remembers what it found (package
// ruled). Whether an entity has ended is judged in Go, by its state; the statement names the
// Timestamp of that state and the revision of the record.
//
// # Feeds
//
// A write to a table that keeps a feed adds a line to the table change, in its statement
// (statement/feed.go). Package feed reads, removes and awaits them.
//
// # Connections
//
// Each use of connections has some of its own, and the others go to the account that had them
// for the shortest time (package lend). The page of a scan ends early if another account waits
// for the connection.
//
// # Timestamps
//
// Each server holds one of 64 slots and issues Timestamps that name its slot, so that no
// two servers issue the same one. Each statement demands that its Timestamp is above that
// of the row and above the floor of the life. If it is not, the server raises its clock
// and sends the statement again. A delete leaves the Timestamp behind in a row without
// properties, a tombstone. Purge removes tombstones after it raised the floor of their
// life above them and everybody who knew the old floor has finished (settle.go).
//
// # Lost replies
//
// When a connection breaks after a write was sent, the store raises the floor of the life
// above the Timestamp of the write, so that it cannot be applied any more, waits for the
// process that it was sent to, and looks for the Timestamp (evidence.go): in the row, or in
// its trail, which has the last Timestamp of each other server that wrote the row within a
// minute. So a failover of the database shows as a delay.
//
// A change of a record is looked for when the process that it was sent to has ended (change.go):
// a new record has a life of its own, and the others leave their Timestamp in the trail of the
// record, which a Drop keeps for two minutes.
//
// A new connection waits until a standby has all that it may show (barrier.go).
//
// The store never asks PostgreSQL to cancel a statement: a commit that waits for a
// standby and is cancelled is visible to others, and a failover loses it (connect.go).
package postgres

// Package pebblestore is the durable [table.Store] of one process: an ordered
// key-value store (Pebble, an LSM tree) in one directory, with one write-ahead
// log and one fsync for all the writes that wait at that moment.
//
//	s, err := pebblestore.Open(pebblestore.Options{Dir: "data"})
//	…
//	defer s.Close()
//
// It declares every strength there is: conditions are judged atomically with the
// write, a page is a snapshot, a drop is exact, and nothing that any reply showed
// is lost with the power. With Options.Memory it keeps all but the last promise.
//
// # Locks
//
// A partition belongs to one of 1024 stripes. A commit holds its stripe for
// read, check and apply, never for the fsync. The catalog of records has a
// lock of its own, which is taken before stripes; what ends the life of a table
// takes them all, in ascending order. Readers take none: they look up the live
// incarnation, read, and look whether it died meanwhile.
//
// # What a reply waits for
//
// Pebble shows a batch to readers before its log is synced. So every reply, a
// read or a refusal as well, waits until what it was based on is durable. The
// [journal] numbers commits by their Timestamp, which is taken when the commit
// registers, before it is applied, and knows up to which number all are synced.
// A reply with an entity waits for that entity's Timestamp; one that rests on
// the absence of something waits for the last commit of the stripe; a page waits
// for everything registered when its iterator was made. All of them also wait
// for the last change of the catalog. A commit waits for its own fsync alone:
// all it can have seen is before it in the log.
//
// # Damage
//
// Each commit carries a mark in the log that says which commits were synced
// before it, and the file LOGS lists the logs that must be there. [Open] inspects
// what Pebble will replay: if commits that were confirmed are lost, it refuses
// with [ErrLost], unless Options.AcceptDamage is set. A torn end, which a crash
// leaves, is not damage: nothing in it was confirmed. Two losses cannot be
// noticed: the last log cut short from outside, and damage to the very last
// commits when the process died within a tenth of a second after them. A damaged
// block of a data file fails the operations that need it and no others.
//
// # Failures
//
// A failed write or fsync of the log ends the process: what readers saw cannot
// be taken back, and what the disk holds is unknown until the log is read again.
package pebblestore

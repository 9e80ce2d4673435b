// Package pebblestore is the durable [table.Store] of one process: an ordered key-value
// store (Pebble, an LSM tree) in one directory, with one write-ahead log, whose fsync is
// shared by all waiting writes.
//
//	s, err := pebblestore.Open(pebblestore.Options{Dir: "data"})
//	…
//	defer s.Close()
//
// It has every strength: conditions are judged atomically with the write, a page is a
// snapshot, a drop is exact, and the state that a reply showed survives the loss of
// power. With Options.Memory it is not durable.
//
// # Locks
//
// A partition belongs to one of 1024 stripes. A commit locks its stripe to read, check
// and apply, never for the fsync. The catalog of records has a lock of its own, which is
// taken before stripes. Dropping a table takes all stripes, in ascending order. Readers
// take no lock: they look up the live incarnation, read, and check that it still lives.
//
// # Waiting for the log
//
// Pebble shows a batch to readers before its log is synced. So every reply, also to a
// read or a refused write, waits until the state that it shows is durable. The [journal]
// numbers commits by their Timestamps, issued when a commit registers, before it is
// applied, and knows the number up to which all commits are synced. A reply with an
// entity waits for that entity's Timestamp; one based on the absence of an entity waits
// for the last commit of the stripe; a page waits for all commits registered when its
// iterator was made. All of them also wait for the last change of the catalog. A commit
// waits only for its own fsync: every state that it can have read is before it in the
// log.
//
// # Damage
//
// Each commit carries a mark in the log that says which commits were synced
// before it, and the file LOGS lists the logs that must be there. [Open] inspects
// the files that Pebble will replay: if confirmed commits are lost, it fails with
// [ErrLost], unless Options.AcceptDamage is set. A torn end, which a crash
// leaves, is not damage: nothing in it was confirmed. Open cannot notice that the
// last commits are damaged if the process died within a tenth of a second after them. A
// damaged block of a data file fails the operations that need it and no others. [Check]
// does what Open does, without changes, and reads the files block by block, so that it
// can save what is readable of a directory that Pebble cannot open.
//
// # A full disk
//
// Pebble cannot continue after a failed write of its log or its MANIFEST. So below
// Pebble there is the file system of package fulldisk, in which an operation that finds no space
// waits until there is some. The store looks at the disk each second and refuses writes
// with [table.ErrFull] before that happens, except deletes. The reserve file is room
// for deletes, flushes and compactions if other programs fill the disk completely. If
// commits wait for space nevertheless, reads show the [Store.settled] state before them.
// If a start has to wait for space, a second store on the same directory, which
// changes nothing, serves reads until then.
//
// Operations that find no file descriptor wait in the same way. Writes are then refused
// with [table.ErrBusy], and so are reads that need a file that is not open.
//
// # Failures
//
// Any other failed write, or a failed fsync of the log, ends the process: readers may
// have seen the batch, and the content of the disk is unknown until the log is read again.
package pebblestore

// Package pebblestore is the durable [table.Store] of one process: an ordered key-value
// store (Pebble, an LSM tree) in one directory, with one write-ahead log, whose fsync is
// shared by all waiting writes.
//
//	s, err := pebblestore.Open(pebblestore.Options{Dir: "data"})
//	…
//	defer s.Close()
//
// The store gives every guarantee that a [table.Store] can give: it checks conditions atomically
// with the write, a page is a snapshot, a dropped table is gone at once for all callers, and a
// state that a reply has shown survives a power loss. With Options.Memory, nothing is durable.
//
// # Locks
//
// A stripe is a lock; each partition belongs to one of 1024 stripes. A commit locks its
// stripe while it reads, checks and applies, but not during the fsync. A change of a record,
// such as a drop, locks first the catalog and then all stripes in ascending order. Readers lock
// nothing: they look up the table's incarnation, read, and check that it was not dropped meanwhile.
//
// # Waiting for the log
//
// Pebble shows a batch to readers before its log is synced. So every reply, also to a
// read or a refused write, waits until the state that it shows is durable. The journal
// gives a commit its number, which is its Timestamp, before the commit is applied, and knows
// the number up to which all commits are synced. A reply with an entity waits for the commit
// with that entity's Timestamp. If the entity is absent, the reply waits for the last commit of
// the stripe. A reply with a page waits for all commits that were registered when the iterator
// was made. All these replies also wait for the last change of the catalog. The reply to a
// successful commit waits only for the commit's fsync: all that it can have read precedes it in the log.
//
// # Damage
//
// Each commit writes a mark to the log, with the number of the last commit known to be synced,
// and the file LOGS lists the logs that must exist. [Open] inspects the logs that Pebble
// will replay. If confirmed commits are lost, Open fails with [ErrLost], unless
// Options.AcceptDamage is set. After a crash, the end of the newest log may be incomplete. This
// is not damage, because no commit there was confirmed. If the process died within a tenth of a
// second after the last commits, Open cannot notice that they are damaged. A damaged block of a
// data file fails only the operations that need this block. [Check] tries the steps of Open
// without changing the directory. It reads the files block by block, so it can copy the readable data of a
// directory that Pebble cannot open to another directory.
//
// # A full disk
//
// Pebble cannot continue after a failed write of its log or its MANIFEST. So Pebble uses the
// file system of package fulldisk, in which a file operation without disk space waits until
// there is space. The store measures the free space each second. Before the disk is full, it
// refuses all writes except deletes with [table.ErrFull]. If other programs fill the disk
// completely, the store removes its reserve file, whose space is then used by deletes, flushes
// and compactions. If commits wait for space nevertheless, reads show the state without them.
// Open waits for space too, so no reads are served until there is enough to replay the log.
//
// If the process has no free file descriptor, operations that open a file wait in the same way. Meanwhile writes are
// refused with [table.ErrBusy], and so are reads that need a file that is not open.
//
// # Failures
//
// Any other failed write, or a failed fsync of the log, ends the process: readers may have seen the
// batch, and the content of the disk is not known until the log is read again at the next start.
package pebblestore

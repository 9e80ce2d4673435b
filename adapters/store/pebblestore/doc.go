// Package pebblestore is the durable [table.Store] of one process: an ordered key-value store (Pebble, an LSM tree)
// in one directory, with one write-ahead log. All waiting writes share the fsyncs of the log.
//
//	s, err := pebblestore.Open(pebblestore.Options{Dir: "data"})
//	…
//	defer s.Close()
//
// The store gives every guarantee that a [table.Store] can give. It checks conditions atomically with the write. A
// page is a snapshot. A dropped table disappears at once for all callers. A state that a reply has shown survives a
// power loss. With Options.Memory, nothing is durable.
//
// # Locks
//
// A stripe is a lock. Each partition belongs to one of 1024 stripes. A commit locks its stripe while it reads
// entities, checks conditions and applies its batch, but not during the fsync. A change of a table record, such as a
// drop, first locks the catalog and then all stripes in ascending order. A reader locks nothing. It looks up the
// table's incarnation, reads entities, and then checks that the incarnation was not dropped.
//
// # Waiting for the log
//
// Pebble shows a batch to readers before the log of the batch is synced. So every reply waits until the state that it
// shows is durable. This includes replies to reads and to refused writes. The journal gives a commit its number, which
// is its Timestamp, before the commit is applied. The journal also records up to which number all commits are synced. A
// reply with an entity waits for the commit with that entity's Timestamp. If the entity is absent, the reply waits for
// the last commit of the stripe. A reply with a page waits for all commits that were registered when the iterator was
// made. All these replies also wait for the last change of the catalog. The reply to a successful commit waits only for
// the fsync of this commit. All commits that it may have read precede it in the log.
//
// # Damage
//
// Each commit writes to the log the number of the last commit that is known to be synced. The file LOGS lists the
// logs that must exist. [Open] inspects the logs that Pebble will replay. If confirmed commits are lost, Open fails
// with [ErrLost], unless Options.AcceptDamage is set. After a crash, the end of the newest log may be incomplete.
// This is not damage, because no commit there was confirmed. If the process died within a tenth of a second after
// its last commits, Open cannot detect damage to these commits. A damaged block of a data file fails only the
// operations that need this block. Package offline checks and salvages a directory that no server has open.
//
// # A full disk
//
// Pebble cannot continue after a failed write of its log or its MANIFEST. So Pebble uses the file system of package
// fulldisk, in which a file operation without disk space waits until there is space. The store measures the free space
// each second. Before the disk is full, the store refuses all writes except deletes with [table.ErrFull]. If other
// programs fill the disk completely, the store removes its reserve file. Deletes, flushes and compactions can then use
// the space of this file. If commits still have to wait for space, reads return the state without the waiting commits.
// Open also waits until there is enough space to replay the log, and no read is served before.
//
// If the process has no free file descriptor, operations that open a file wait in the same way. Meanwhile the store
// refuses writes, and also reads that must open a file, with [table.ErrBusy].
//
// While the data directory is removed or replaced by another one, the store refuses all writes with [table.ErrBusy].
// The store notices this within a second.
//
// # Failures
//
// Any other failed write, or a failed fsync of the log, ends the process. Readers may have seen the batch, and the
// content of the disk is not known until the next start reads the log again.
package pebblestore

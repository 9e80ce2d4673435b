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
// A stripe is a lock for some of the partitions; there are 1024 stripes.
//
//   - A commit locks its stripe while it reads entities, checks conditions and applies its batch, but not during the
//     fsync.
//   - A change of a table record, such as a drop, locks the catalog and then all stripes in ascending order.
//   - A reader locks nothing. It looks up the table's incarnation, reads entities, and then checks that the incarnation
//     was not dropped.
//
// # Waiting for the log
//
// Pebble shows a batch to readers before the log of the batch is synced. So every reply, also to a read or a refused
// write, waits until the state that it shows is durable. The journal gives each commit a number, which is its
// Timestamp, and knows up to which number all commits are synced. A reply waits for these commits:
//
//   - with an entity: the commit with the entity's Timestamp, and the last change of the catalog
//   - without an entity: the last commit of the stripe, and the last change of the catalog
//   - with a page: all commits registered when the iterator was made, and the last change of the catalog
//   - to a successful commit: only this commit, because the commits that it may have read precede it in the log
//
// # Damage
//
// Each commit writes to the log the number of the last commit that is known to be synced. The file LOGS lists the
// logs that must exist. If [Open] finds in this way that confirmed commits are lost, it fails with [ErrLost], unless
// Options.AcceptDamage is set. An incomplete end of the newest log after a crash is not damage, because no commit
// there was confirmed.
//
// Open cannot detect damage to the commits of the last tenth of a second before the process died. A damaged block of
// a data file fails only the operations that need this block. Package offline checks and salvages a directory that no
// server has open.
//
// # A full disk
//
// Pebble cannot continue after a failed write of its log or its MANIFEST. So Pebble uses the file system of package
// fulldisk, in which a file operation without disk space waits until there is space. Open waits in the same way while
// it replays the log.
//
// The store measures the free space each second. Before the disk is full, it refuses all writes except deletes with
// [table.ErrFull]. If other programs fill the disk completely, the store removes its reserve file, whose space
// deletes, flushes and compactions can use. If commits still wait for space, reads return the state without these
// commits.
//
// If the process has no free file descriptor, operations that open a file wait in the same way. Meanwhile the store
// refuses writes, and reads that must open a file, with [table.ErrBusy].
//
// The store also refuses all writes with [table.ErrBusy] while the data directory is removed or replaced by another
// one. It notices this within a second.
//
// # Failures
//
// Any other failed write, or a failed fsync of the log, ends the process. The content of the disk is then unknown until
// the next start reads the log.
package pebblestore

package storetest

// Strengths are the guarantees of a store in addition to the guarantees of every table.Store. The tests of a store
// declare its strengths in a [Fixture].
type Strengths struct {
	// Conditional means that conditions on the existence and the Timestamp of an entity are checked atomically with the
	// write. Otherwise the last writer wins.
	Conditional bool
	// AtomicCommit means that a Commit of several mutations is applied as a whole or not at all. After it has returned,
	// no read sees only a part of it.
	AtomicCommit bool
	// SnapshotPage means that one Scan sees the store as of one moment; its page contains a concurrent Commit as a
	// whole or not at all.
	SnapshotPage bool
	// Linearizable means that a read that begins after a write has returned sees the write, even in another process.
	// Otherwise, other processes see it some time later.
	Linearizable bool
	// Descending means that a Scan can read from the last key to the first.
	Descending bool
	// Durable means that every state that a reply has shown survives a loss of power.
	Durable bool
	// ExactDrop means that an operation concurrent with a Drop either happens before the Drop or finds no table.
	// Without ExactDrop, the operation may or may not find the table until Drop returns.
	ExactDrop bool
	// TimestampsAcrossProcesses means that Timestamps of different processes never repeat, and increase even if the
	// clocks disagree.
	//
	// Otherwise this is guaranteed only within one process, and for an entity while it exists. After a delete, the next
	// Timestamp is higher if the writes do not overlap and the clocks agree.
	TimestampsAcrossProcesses bool
	// Expiry means that tables can have a rule of expiry, see [table.Traits]. Each operation applies the rule at the
	// operation's Timestamp or instant. A store without Expiry refuses records with a rule.
	Expiry bool
	// Feed means that tables can have a change feed, see [table.Feeding].
	Feed bool
}

package storetest

// Strengths are the guarantees of a store beyond those of every table.Store. The tests of a store declare its strengths
// in a [Fixture].
type Strengths struct {
	// Conditional means that conditions on the existence and the Timestamp of an entity are checked
	// atomically with the write. Without this strength, the last writer wins.
	Conditional bool
	// AtomicCommit means that a Commit of several mutations is applied as a whole or not at all. After the Commit has
	// returned, no read sees only a part of it.
	AtomicCommit bool
	// SnapshotPage means that one Scan sees the store as of one moment; a concurrent Commit is in its page wholly or
	// not at all.
	SnapshotPage bool
	// Linearizable means that a read that begins after a write has returned sees the write, in all processes that share
	// the data. Without this strength, a process sees its own writes at once, and the writes of other processes some
	// time later.
	Linearizable bool
	// Descending means that a Scan can read from the last key to the first.
	Descending bool
	// Durable means that every state that a reply has shown survives a loss of power.
	Durable bool
	// ExactDrop means that an operation concurrent with a Drop either happens before the Drop or finds no table.
	// Without this strength, each operation between the call of Drop and its return may or may not find the table.
	ExactDrop bool
	// TimestampsAcrossProcesses means that Timestamps of different processes never repeat, and that they increase even
	// if the clocks of the processes disagree. A store without this strength guarantees both only within one process.
	// If several processes write an entity, its Timestamps still increase while the entity exists. After a delete of
	// the entity, the next Timestamp is higher if the writes do not overlap and the clocks agree.
	TimestampsAcrossProcesses bool
	// Expiry means that tables can have a rule of expiry, see [table.Traits]. Each write applies the rule at its
	// Timestamp, and each read at its instant. A store without this strength refuses records with a rule.
	Expiry bool
	// Feed means that tables can have a change feed, see [table.Feeding].
	Feed bool
}

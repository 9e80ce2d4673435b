package storetest

// Strengths are the guarantees of a store beyond the contract of the interface
// table.Store. The tests of the store declare them in a [Fixture].
type Strengths struct {
	// Conditional: conditions on presence and on Timestamps are checked
	// atomically with the write. Without it the last writer wins.
	Conditional bool
	// AtomicCommit: a Commit of several mutations is applied whole or not at all,
	// and a read after the Commit has returned never sees only a part of it.
	AtomicCommit bool
	// SnapshotPage: one Scan sees the store as of one moment; a concurrent
	// Commit is in its page wholly or not at all.
	SnapshotPage bool
	// Linearizable: a read that begins after a write has returned sees this write, in
	// all processes that share the data. Without this strength, a process sees its own
	// writes at once and those of other processes some time later.
	Linearizable bool
	// Descending: a Scan can read from the last key to the first one.
	Descending bool
	// Durable: the state that a reply showed survives the loss of power.
	Durable bool
	// ExactDrop: an operation concurrent with Drop either happens before the Drop or
	// finds no table. Without this strength, each operation between the call of Drop
	// and its return may find the table or not, in any order.
	ExactDrop bool
	// TimestampsAcrossProcesses: Timestamps are issued in one place, so that
	// they never repeat and increase even between processes whose clocks disagree.
	// Without it, this holds only within one process. Between processes, the
	// Timestamps of an entity increase while the entity exists. If the entity is
	// deleted in between, they increase only if the writes do not overlap and the
	// clocks agree.
	TimestampsAcrossProcesses bool
	// Expiry: tables can have a rule of expiry, which each write applies at its Timestamp and each
	// read at its instant, see [table.Traits]. Without it the store refuses records with such a rule.
	Expiry bool
	// Feed: tables can keep a feed of their changes, see [table.Feeding].
	Feed bool
}

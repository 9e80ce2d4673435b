package storetest

// Strengths are what a store guarantees beyond the contract of the port. Its
// tests declare them in a [Fixture].
type Strengths struct {
	// Conditional: conditions on presence and on Timestamps are judged
	// atomically with the write. Without it the last writer wins.
	Conditional bool
	// AtomicCommit: readers never see part of a Commit once it is done, and a
	// Commit of several mutations is applied whole or not at all.
	AtomicCommit bool
	// SnapshotPage: one Scan sees the store as of one moment; a concurrent
	// Commit is in its page wholly or not at all.
	SnapshotPage bool
	// Linearizable: a read begun after a write has returned sees it, in all
	// processes that share the fixture. Without it a process sees its own writes at
	// once and those of others some time later; the other laws hold from then on.
	Linearizable bool
	// Descending: a Scan can read from the last key to the first one.
	Descending bool
	// Durable: the state that a reply showed survives the loss of power.
	Durable bool
	// ExactDrop: an operation concurrent with Drop either happens before it or
	// finds no table. Without it, between the call of Drop and its return each
	// operation may take the table as live or dead on its own.
	ExactDrop bool
	// TimestampsAcrossProcesses: Timestamps are issued in one place, so that
	// they never repeat and increase even between processes whose clocks disagree.
	// Without it they do so within one process. Between processes those of an entity
	// that exists increase; over a delete they do if the writes do not overlap and
	// the clocks agree.
	TimestampsAcrossProcesses bool
	// Expiry: the rule of expiry of a table holds for each operation at its own Timestamp or
	// instant, see [table.Traits]. Without it the store refuses records with traits.
	Expiry bool
	// Feed: tables can keep a feed of their changes, see [table.Feeding].
	Feed bool
}

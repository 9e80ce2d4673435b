package storetest

// Home returns the strengths of a store of this project, by its name in the table
// of docs/stores.md. The harnesses of the stores declare these, so the suite checks
// them, and a test compares them with that page. An unknown name panics.
func Home(name string) Strengths {
	s, ok := homes[name]
	if !ok {
		panic("storetest: " + name + " is not in homes.go")
	}
	return s
}

var homes = map[string]Strengths{
	"Pebble on disk": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, Feed: true, SnapshotPage: true,
		Durable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	"Pebble in memory": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, Feed: true, SnapshotPage: true,
		ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	// The store demands database settings that make a reply durable.
	"PostgreSQL": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, Feed: true, SnapshotPage: true,
		Durable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	// A Query is read-committed and may show part of a batch. A process with a lease may still see a dropped table.
	// The Timestamp of a delete is not stored.
	"DynamoDB": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true,
		Durable: true,
	},
	"Durable Objects, one bucket per table": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, SnapshotPage: true,
		Durable: true, Expiry: true, Feed: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	// A page takes a read per bucket, and the buckets drop a table one after another.
	"Durable Objects, more buckets": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true,
		Durable: true, Expiry: true, Feed: true, TimestampsAcrossProcesses: true,
	},
	// The ranges of a split table, too: a page takes a read of each, and they drop one after
	// another.
	"Durable Objects, a table that has split": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true,
		Durable: true, Expiry: true, Feed: true, TimestampsAcrossProcesses: true,
	},
	"Workers KV": {
		Durable: true,
	},
}

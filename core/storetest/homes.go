package storetest

// Home returns the strengths of one of this project's stores, by its name in docs/stores.md. Tests compare them with
// the store and with that page. Home panics if the name is unknown.
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
	// The store is durable, because it refuses a database whose configuration does not make commits durable.
	"PostgreSQL": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, Feed: true, SnapshotPage: true,
		Durable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	// The store does not declare SnapshotPage: a Query of DynamoDB may return part of a batch. It does not declare
	// ExactDrop: a process with a cached record may still find a dropped table. It does not declare
	// TimestampsAcrossProcesses: it forgets the Timestamp of a delete.
	"DynamoDB": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, Expiry: true,
		Durable: true,
	},
	"Durable Objects, one bucket per table": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true, SnapshotPage: true,
		Durable: true, Expiry: true, Feed: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	},
	// The store does not declare SnapshotPage, because a page is read from each bucket separately. It does not declare
	// ExactDrop, because the buckets drop a table one after another.
	"Durable Objects, more buckets": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true,
		Durable: true, Expiry: true, Feed: true, TimestampsAcrossProcesses: true,
	},
	// The store does not declare SnapshotPage, because a page is read from each range separately. It does not declare
	// ExactDrop, because the ranges drop a table one after another.
	"Durable Objects, a table that has split": {
		Linearizable: true, Conditional: true, AtomicCommit: true, Descending: true,
		Durable: true, Expiry: true, Feed: true, TimestampsAcrossProcesses: true,
	},
	"Workers KV": {
		Durable: true,
	},
}

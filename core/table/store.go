package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Store keeps documents and entities. It is the port between the semantics in
// this package and a place to keep bytes, and it decides nothing about the
// protocol: which write is allowed, what a merge means and what a condition
// compares is said by a [Mutation] and done by [Apply].
//
// A Store is safe for use by many goroutines, and by several Services and
// processes at once where its place is shared. It retains no slice it is given
// after a method returned and the caller owns every slice it gets, except where
// a comment says otherwise. Methods honour ctx: when it ends they return its
// error, unless the outcome is known already.
//
// # Documents
//
// The catalog is a set of small documents (≤ 64 KiB) with keys in ASCII. Core
// owns their meaning. A document with a [Layout] is the record of a table: as
// long as it exists, the incarnation it names is live, and the document's key is
// the name by which the methods for entities find it. Reads and writes of
// documents are linearizable, unless the store does not declare Linearizable:
// then what it says of an entity goes for a document, and without Conditional two
// writes at the same time may both succeed, of which the last one counts.
//
// # Entities
//
// Entities live in an incarnation of a table, ordered by their encoded key
// (package key), whose partition part is the unit of atomicity. Get, Commit and
// Scan are given the key of the table's record and find the live incarnation
// themselves; without one they fail with [ErrNoTable]. After Drop has returned,
// no Commit that began before may still write into the incarnation, nor Get and
// Scan still read it, whatever any process has cached.
//
// # Strengths
//
// What a store guarantees beyond this is declared by [Store.Strengths]; the
// conformance suite in storetest tests what is declared, no more and no less.
type Store interface {
	// Strengths never changes during the life of a Store.
	Strengths() Strengths

	// ReadDocument returns the document with this key or [ErrNoDocument].
	ReadDocument(ctx context.Context, key string) (Document, error)

	// WriteDocument writes a document if the stored one has d.Revision, or if
	// there is none and d.Revision is empty, else it fails with [ErrRevision].
	// It returns the new revision. A Layout with an incarnation that was never
	// written makes an empty table in the same step; changing the Layout of a
	// record moves its name to the other incarnation, and what it named before
	// lives on if another record names it ([ErrUnsupported] where a store cannot
	// move names). While a table of this key is still being deleted, a store may
	// answer [ErrBeingDeleted].
	WriteDocument(ctx context.Context, d Document) (Revision, error)

	// ListDocuments returns at most limit documents whose keys begin with prefix
	// and are ≥ from, in byte order of their keys. Fewer than limit, which may be
	// 1001, means there are no more. It need not be a snapshot.
	ListDocuments(ctx context.Context, prefix, from string, limit int) ([]Document, error)

	// Drop removes a document that has this revision, else fails with
	// [ErrRevision] and has no effect, and with it the table it is the record of,
	// unless another record names the same incarnation. The entities are removed
	// at once or behind the call, but none is ever seen again.
	Drop(ctx context.Context, key string, revision Revision) error

	// Get returns the entity with this encoded key or [ErrNoEntity].
	Get(ctx context.Context, table string, key []byte, c Consistency) (Row, error)

	// Commit applies all mutations to the table or none of them and returns the
	// Timestamp it gave to what it wrote, or issued for what it deleted. The
	// mutations are at least one and at most 100, are of one partition and name
	// no key twice. The order of properties may be lost.
	//
	// Timestamps of one table, in all its lives, never repeat, and those of one key
	// strictly increase in the order in which the Commits take effect, deletes and
	// clocks that stand still or step back included. A store that does not declare
	// TimestampsAcrossProcesses promises this for the Commits of one process, with
	// one exception: a Commit that answered [ErrUnknown] and takes effect after its
	// answer has the Timestamp it was issued before, and a delete that took effect
	// in between may have a higher one.
	//
	// If a mutation cannot be applied, the error is a *[Refused] with the lowest
	// index that failed. [ErrBusy] promises that nothing was applied, now or
	// later; [ErrUnknown] says that the mutations may have been applied or may
	// still be. Any other error promises that nothing was applied, that of ctx
	// too: a Commit whose ctx ends when it was sent already answers ErrUnknown.
	//
	// When Commit returns, with an error or without, all it said is as durable
	// as the store declares: also what a refusal was based on.
	Commit(ctx context.Context, table string, m []Mutation) (edm.Ticks, error)

	// Scan reads entities in key order. See [ScanRequest] and [Page].
	Scan(ctx context.Context, table string, r ScanRequest) (Page, error)
}

// Strengths is what a Store declares about itself.
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
	// processes that share the place. Without it a process sees what it wrote
	// itself, and what others wrote some time later; the laws above and below hold
	// from then on.
	Linearizable bool
	// Durable: what a reply showed survives the loss of power.
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
}

// Revision names one state of a document; it is opaque to core and empty only
// for a document that does not exist.
type Revision string

// Document is one entry of the catalog.
type Document struct {
	Key      string
	Value    []byte // opaque to the store
	Layout   Layout // zero unless the document is the record of a table
	Revision Revision
}

// Incarnation is the random identity of one life of a table. It is part of
// where the store keeps the table's entities, so that a table that was deleted
// and created again shares nothing with its predecessor.
type Incarnation [12]byte

// Layout says where the entities of a table live. Stores that have no use for
// a field keep it all the same.
type Layout struct {
	Incarnation Incarnation
	Buckets     uint16 // hash keys the partitions are spread over, 0 = the store's default
	Location    string // location hint or jurisdiction, "" = none
}

// Consistency of a read.
type Consistency uint8

const (
	// Strong sees every write that returned before the read began.
	Strong Consistency = iota
	// Eventual may be answered from a replica that lags behind.
	Eventual
)

// Row is one entity as a store keeps it.
type Row struct {
	Key        []byte // encoded key
	Timestamp  edm.Ticks
	Nonce      uint64 // of the mutation that wrote it
	Properties edm.Properties
}

// ScanRequest asks for the entities of some ranges that pass a filter.
type ScanRequest struct {
	// Ranges are not empty, disjoint and ascending; there is at least one. All of
	// them belong to the same page: its row and byte limits, its snapshot.
	Ranges []key.Range
	Filter *odata.Filter // nil passes all; judged exactly, in the store's loop

	// A page ends before it holds more than Rows entities, or Bytes bytes of
	// keys and properties (but it may always hold one), after about ScanBytes
	// were examined, or when Expired says so, which is asked at least once in
	// 64 KiB examined but not before the first row was. Expired and Filter may be
	// called with locks held: they neither block nor call the store. Zero or nil:
	// no limit.
	Rows      int
	Bytes     int
	ScanBytes int
	Expired   func() bool

	Consistency Consistency
}

// Page is what a Scan found.
type Page struct {
	Rows []Row
	// Next is the position where the scan goes on ([key.From] cuts the ranges
	// there): it is behind every row of the page and at or before every row of
	// the ranges that was not examined, moved on since the first range's Start,
	// and need not be the key of an entity. Nil: the ranges are finished. A page
	// may be empty and have a Next; a page that finished should not have one.
	Next []byte
	// Scanned is the number of bytes examined.
	Scanned int
	// Recycle gives the memory of Rows back to the store. It may be nil, need
	// not be called, and must be called once at most, after the last use of Rows.
	Recycle func()
}

package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Store keeps records and entities. It is the interface between this package,
// which has the semantics of tables, and a database. A Store decides nothing about
// the protocol: a [Mutation] describes a write and its condition, and [Apply]
// applies them.
//
// A Store is safe for use by many goroutines, and by several Services and
// processes at once where its data is shared. It retains no slice it is given
// after a method returned and the caller owns every slice it gets, except where
// a comment says otherwise. Methods honour ctx: when it ends they return its
// error, unless the outcome is known already.
//
// # Records
//
// The catalog is a set of small records (≤ 64 KiB), one for each table and one
// for each account's own settings, addressed by a [RecordKey]. A store does not
// interpret their values. A table exists as long as its record exists, and the
// record names the incarnation of the table. Reads and writes of records are
// linearizable, unless the store lacks that strength. Then records are as weakly
// consistent as entities: two concurrent writes may both succeed, and the last one
// counts.
//
// # Entities
//
// Entities belong to an incarnation of a table and are ordered by their encoded
// key (package key). The entities with one PartitionKey are the unit of atomicity.
// Get, Commit and Scan get the key of the table's record and find the incarnation
// themselves; if the table does not exist, they fail with [ErrNoTable]. After Drop
// has returned, no Commit that began before may still write into the dropped
// incarnation, and no Get or Scan may read it, whatever any process has cached.
//
// # Strengths
//
// A store may guarantee more than this. Each store's tests declare its strengths
// to the conformance suite (storetest.Strengths), which tests exactly those.
type Store interface {
	// ReadRecord returns the record with this key or [ErrNoRecord].
	ReadRecord(ctx context.Context, key RecordKey, c Consistency) (Record, error)

	// WriteRecord writes a record if the stored one has r.Revision, or if there
	// is none and r.Revision is empty, else it fails with [ErrRevision]. It
	// returns the new revision. A new record of a table makes an empty table in
	// the same step. A later write changes only the value and the traits: the table keeps
	// its incarnation and its entities, whatever r.Incarnation is. All reads and Commits
	// that begin after WriteRecord has returned follow the new traits. A store that does
	// not support traits answers [ErrUnsupported] to a record with traits. While an
	// earlier table with this key is still being deleted, a store may answer
	// [ErrBeingDeleted].
	WriteRecord(ctx context.Context, r Record) (Revision, error)

	// ListRecords returns the records of at most limit tables of an account, in
	// byte order of their names, beginning at the name from. Fewer than limit,
	// which may be 1001, means there are no more. It need not be a snapshot.
	ListRecords(ctx context.Context, account, from string, limit int, c Consistency) ([]Record, error)

	// Drop removes a table together with its record, if the record has this
	// revision, else it fails with [ErrRevision] and has no effect. The entities
	// are removed at once or in the background, but none is ever seen again.
	Drop(ctx context.Context, table RecordKey, revision Revision) error

	// Get returns the entity with this encoded key or [ErrNoEntity].
	Get(ctx context.Context, table RecordKey, key []byte, c Consistency) (Row, error)

	// Commit applies all mutations to the table or none of them. It returns the
	// Timestamp it issued, which all written entities have. There are 1 to 100
	// mutations, of one partition and with different keys. The order of properties
	// may be lost.
	//
	// Timestamps of one table, in all its incarnations, never repeat. Those of one key
	// strictly increase in the order in which the Commits take effect, even if Commits
	// delete, and if the clock stands still or steps back. A store that does not declare
	// TimestampsAcrossProcesses promises this for the Commits of one process, with
	// one exception: a Commit that answered [ErrUnknown] and takes effect later
	// keeps the Timestamp that was issued before the answer. A delete that took
	// effect in between may have a higher Timestamp.
	//
	// If all mutations are [Expire], some of them may be applied even if Commit returns an error. No
	// reader notices, because the removed entities had expired.
	//
	// If a mutation cannot be applied, the error is a *[Refused] with the lowest
	// index that failed. [ErrBusy] and [ErrFull] promise that nothing was applied, now
	// or later; [ErrUnknown] says that the mutations may have been applied or may be
	// applied later. Any other error, including that of ctx, promises that nothing was
	// applied. So if ctx ends after the mutations were sent, Commit answers ErrUnknown.
	//
	// When Commit returns, its outcome is as durable as the store declares. This
	// includes the stored state because of which a Commit was refused.
	Commit(ctx context.Context, table RecordKey, m []Mutation) (edm.Ticks, error)

	// Scan reads entities in key order, or in the opposite order. See [ScanRequest] and
	// [Page]. A store that cannot read in the opposite order answers [ErrUnsupported].
	Scan(ctx context.Context, table RecordKey, r ScanRequest) (Page, error)
}

// Revision identifies one state of a record. Only the store interprets it. It is empty
// only for a record that does not exist.
type Revision string

// Record is one entry of the catalog.
type Record struct {
	Key         RecordKey
	Value       []byte      // not interpreted by the store
	Incarnation Incarnation // the incarnation of the table; zero for settings
	Revision    Revision
	Traits      *Traits // the traits of the table; nil if it declares none
}

// Incarnation is the random id of a table from its creation to its deletion. It is
// part of the keys under which the store keeps the table's entities, so that a table
// that was deleted and created again shares nothing with its predecessor. The client
// of the store that creates the table chooses the incarnation. If the reply is lost,
// it can recognize its own table by the incarnation.
type Incarnation [12]byte

// Consistency says how old the state that a read shows may be.
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
	Nonce      uint64 // the nonce of the mutation that wrote the entity
	Properties edm.Properties
}

// ScanRequest asks for the entities of some ranges that pass a filter.
type ScanRequest struct {
	// Ranges has at least one range. Its ranges are not empty, disjoint and ascending. All
	// of them are read for the same page, with its limits and in its snapshot.
	Ranges []key.Range
	Filter *odata.Filter // nil passes all entities; the store must apply the filter exactly, to each entity that it reads
	// Ended asks for the entities that have ended (expired) by the traits of the table, in
	// place of the others.
	Ended bool

	// Descending reads from the last key of the last range to the first one of the first.
	Descending bool
	// Count asks for [Page].Count instead of rows. Rows and Bytes must then be zero, so only
	// ScanBytes, Expired and Pause limit the page.
	Count bool

	// A page ends before it holds more than Rows entities or more than Bytes bytes
	// of keys and properties (it may always hold one entity), after about ScanBytes
	// were examined, or when Expired returns true. Expired is called at least once
	// per 64 KiB examined, but not before the first row. Expired and Filter may be
	// called with locks held: they neither block nor call the store. Zero or nil is
	// no limit. [PageBuilder] implements these limits.
	Rows      int
	Bytes     int
	ScanBytes int
	Expired   func() bool

	// Pause may be called at the same points as Expired, with the entities and bytes
	// examined so far, but only while the store holds no locks. It may wait for a while, so
	// that other requests can run. If it returns true, the page ends. It may be nil.
	Pause func(rows, size int) (end bool)

	Consistency Consistency
}

// Page is the result of a Scan.
type Page struct {
	Rows []Row
	// Count is the number of entities that pass the filter, if the request asks for it.
	Count int
	// Next is the position where the scan continues ([key.From] cuts the ranges
	// there), nil if the ranges are finished. It is after every row of the page, at
	// or before every row that was not examined, and after the first range's Start.
	// It need not be the key of an entity. A page may be empty and have a Next; a
	// page that finished its ranges should have none.
	//
	// In a descending scan, Next is an exclusive upper bound: [key.Before] cuts the ranges
	// there. It is at or before every row of the page, after every row that was not
	// examined, and before the last range's End.
	Next []byte
	// Scanned is the number of bytes examined, and Examined is the number of
	// entities that the store read for the page.
	Scanned, Examined int
	// Recycle gives the memory of Rows back to the store. It may be nil, need
	// not be called, and must be called once at most, after the last use of Rows.
	Recycle func()
}

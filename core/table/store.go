package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Store keeps records and entities. It is the interface between this package, which implements the
// semantics of tables, and a database. A Store decides nothing about the protocol: a [Mutation]
// describes a write and its condition, and [Apply] applies it.
//
// A Store is safe for concurrent use by many goroutines. Several Services and processes may also use
// it at once, if its data is shared. It keeps no argument slice after a method has returned, and the
// caller owns every slice that a method returns, except where a comment says otherwise. When ctx
// ends, a method returns the error of ctx, unless the outcome is already known.
//
// # Records
//
// The catalog is a set of small records (≤ 64 KiB): one for each table, and one for the settings of
// each account. A [RecordKey] identifies a record. A store does not interpret the values of records.
// A table exists as long as its record exists, and the record contains the incarnation of the table.
// Reads and writes of records are linearizable, unless the store lacks this guarantee (see
// Strengths). In such a store, two concurrent writes of a record may both succeed, and the last one
// wins.
//
// # Entities
//
// Each entity belongs to an incarnation of a table. Entities are ordered by their encoded key
// (package key). The entities with one PartitionKey are the unit of atomicity. Get, Commit and Scan
// get the key of the table's record and look up the incarnation themselves. If the table does not
// exist, they fail with [ErrNoTable]. After Drop has returned, no earlier Commit may still write
// into the dropped incarnation, and no Get or Scan may read it, whatever any process has cached.
//
// # Strengths
//
// A store may guarantee more than this interface requires. The tests of a store declare these
// guarantees to the conformance suite (storetest.Strengths), which tests exactly the declared ones.
type Store interface {
	// ReadRecord returns the record with this key, or [ErrNoRecord].
	ReadRecord(ctx context.Context, key RecordKey, c Consistency) (Record, error)

	// WriteRecord writes a record if the stored record has the revision r.Revision. If r.Revision is
	// empty, there must be no stored record. Otherwise it fails with [ErrRevision]. It returns the
	// new revision.
	//
	// Writing a new record of a table also creates the empty table. A later write changes only the
	// value and the traits: the table keeps its incarnation and its entities, whatever r.Incarnation
	// is. All reads and Commits that begin after WriteRecord has returned follow the new traits. A
	// store that does not support traits answers [ErrUnsupported] to a record with traits. While an
	// earlier table with this key is still being deleted, a store may answer [ErrBeingDeleted].
	WriteRecord(ctx context.Context, r Record) (Revision, error)

	// ListRecords returns the records of at most limit tables of an account, in byte order of their
	// names. The first record is that of the table with the lowest name ≥ from. If the result has fewer
	// than limit records, the account has no more records. A limit of 1001 must work. The result need
	// not be a snapshot.
	ListRecords(ctx context.Context, account, from string, limit int, c Consistency) ([]Record, error)

	// Drop removes a table together with its record, if the record has this revision. Otherwise it
	// fails with [ErrRevision] and has no effect. The store removes the entities at once or in the
	// background. In both cases, no reader sees one of them again.
	Drop(ctx context.Context, table RecordKey, revision Revision) error

	// Get returns the entity with this encoded key, or [ErrNoEntity].
	Get(ctx context.Context, table RecordKey, key []byte, c Consistency) (Row, error)

	// Commit applies all mutations to the table or none of them. It returns the Timestamp it issued,
	// which all written entities have. There are 1 to 100 mutations, of one partition and with
	// different keys. The store may change the order of the properties.
	//
	// Timestamps of one table, in all its incarnations, never repeat. Timestamps of one key strictly
	// increase in the order in which the Commits take effect. This also holds for deletes, and if
	// the clock stands still or steps back. A store that does not declare TimestampsAcrossProcesses
	// promises this only for the Commits of one process, with one exception: a Commit that answered
	// [ErrUnknown] and takes effect later keeps the Timestamp that was issued before the answer. A
	// delete that took effect in between may have a higher Timestamp.
	//
	// If all mutations are [Expire], the store may have applied some of them although Commit returns
	// an error. No reader notices this, because the removed entities had expired.
	//
	// If a mutation cannot be applied, the error is a *[Refused] with the lowest index that failed.
	// [ErrBusy] and [ErrFull] promise that the mutations are never applied. [ErrUnknown] says that
	// the mutations may have been applied, or may be applied later. Any other error, including that
	// of ctx, promises that nothing was applied. So if ctx ends after the mutations were sent,
	// Commit answers ErrUnknown.
	//
	// When Commit returns, its outcome is as durable as the store declares. If the Commit was refused
	// because of a stored entity, the stored state of this entity is as durable too.
	Commit(ctx context.Context, table RecordKey, m []Mutation) (edm.Ticks, error)

	// Scan reads entities in key order, or in descending order. See [ScanRequest] and [Page]. A
	// store that cannot read in descending order answers [ErrUnsupported].
	Scan(ctx context.Context, table RecordKey, r ScanRequest) (Page, error)
}

// Consistency determines how old the data that a read returns may be.
type Consistency uint8

const (
	// Strong reads see every write that returned before the read began.
	Strong Consistency = iota
	// Eventual reads may get data from a replica that lags behind.
	Eventual
)

// ScanRequest selects the entities in some ranges that match a filter.
type ScanRequest struct {
	// Ranges has at least one range. No range is empty. The ranges do not overlap, and are in ascending
	// order. All of them are read for the same page, under its limits and in its snapshot.
	Ranges []key.Range
	Filter *odata.Filter // nil matches all entities; the store must apply the filter exactly, to each entity that it reads
	// If Ended is set, the scan selects only expired entities: those that have expired by the rule in
	// the table's [Traits]. Otherwise the scan selects only entities that have not expired.
	Ended bool

	// Descending makes the scan read from the last key of the last range to the first key of the
	// first range.
	Descending bool
	// Count makes the scan return [Page].Count instead of rows. Rows and Bytes must then be zero, so
	// only ScanBytes, Expired and Pause limit the page.
	Count bool

	// These four fields limit a page; zero or nil means no limit. A page holds at most Rows entities,
	// and at most Bytes bytes of keys and properties. However, a page may hold one entity of any size.
	// A page also ends after about ScanBytes bytes were examined, or when Expired returns true. Expired
	// is called at least once per 64 KiB examined, but not before the first row. The store may hold
	// locks while it calls Expired or Filter, so neither of these two functions may block or call the
	// store. [PageBuilder] implements these limits.
	Rows      int
	Bytes     int
	ScanBytes int
	Expired   func() bool

	// Pause may be called whenever Expired may be called, with the number of entities and bytes
	// examined so far, but only while the store holds no locks. Pause may wait for a while, so that
	// other requests can run. If Pause returns true, the page ends. It may be nil.
	Pause func(rows, size int) (end bool)

	Consistency Consistency
}

// Page is the result of a Scan.
type Page struct {
	Rows []Row
	// Count is the number of entities that match the filter, if the request has Count set.
	Count int
	// Next is the position where the next page begins; [key.From] returns the remaining ranges. If the
	// scan has finished its ranges, Next should be nil. All rows of the page are before Next. All rows
	// that were not examined are at or after Next. Next is after the Start of the first range. Next
	// need not be the key of an entity. A page may be empty and have a Next.
	//
	// In a descending scan, Next is the exclusive upper bound of the next page; [key.Before] returns
	// the remaining ranges. All rows of the page are at or after Next. All rows that were not examined
	// are before Next. Next is before the End of the last range.
	Next []byte
	// Scanned is the number of bytes that the store examined for the page, and Examined is the
	// number of entities.
	Scanned, Examined int
	// Recycle gives the memory of Rows back to the store. It may be nil. The caller may call it at
	// most once, after the last use of Rows.
	Recycle func()
}

package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Store stores records and entities. It is the interface between this package, which implements the semantics of
// tables, and a database. A Store knows nothing about the protocol: a [Mutation] describes a write and its condition,
// and [Apply] applies it.
//
// A Store is safe for concurrent use. Several Services and processes may use it at once if its data is shared. A method
// does not retain argument slices after it has returned, and the caller owns all returned slices, except where a
// comment says otherwise. When ctx is done, a method returns the error of ctx unless the outcome is already known.
//
// # Records
//
// The catalog is a set of small records (≤ 64 KiB): one for each table, and one for the settings of each account. A
// [RecordKey] identifies a record. A store does not interpret the values of records. A table exists as long as its
// record exists. The record contains the incarnation of the table. Reads and writes of records are linearizable if the
// store declares this strength. Otherwise, two concurrent writes of a record may both succeed, and the last one wins.
//
// # Entities
//
// Each entity belongs to an incarnation of a table. Entities are ordered by their encoded key (package key). The
// entities with one PartitionKey are the unit of atomicity. Get, Commit and Scan take the key of the table's record and
// look up the incarnation themselves. If the table does not exist, they fail with [ErrNoTable]. After Drop has
// returned, no Commit can write to the dropped incarnation and no Get or Scan can read it, even if it began earlier or
// its process has cached the record.
//
// # Strengths
//
// A store may guarantee more than this interface requires. The tests of a store declare the additional guarantees
// (storetest.Strengths), and the conformance suite tests exactly those.
type Store interface {
	// ReadRecord returns a record, or [ErrNoRecord].
	ReadRecord(ctx context.Context, key RecordKey, c Consistency) (Record, error)

	// WriteRecord writes a record if the stored record has the revision r.Revision, or if r.Revision is empty and there
	// is no stored record. Otherwise it fails with [ErrRevision]. It returns the new revision.
	//
	// Writing a new record of a table also creates the empty table. A later write changes only the value and the
	// traits: the table retains its incarnation, whatever r.Incarnation is, and its entities. All reads and Commits
	// that begin after WriteRecord has returned follow the new traits.
	//
	// A store that does not support traits fails with [ErrUnsupported] for a record with traits. A store may fail with
	// [ErrBeingDeleted] while it still deletes an earlier table with this key.
	WriteRecord(ctx context.Context, r Record) (Revision, error)

	// ListRecords returns the records of at most limit tables of an account, in byte order of their names, starting
	// with the lowest name ≥ from. If there are fewer records than limit, the account has no more tables. A limit of
	// 1001 must work. The list need not be a snapshot.
	ListRecords(ctx context.Context, account, from string, limit int, c Consistency) ([]Record, error)

	// Drop removes a table and its record if the record has the given revision. Otherwise, Drop fails with
	// [ErrRevision]. The entities may be removed later, but nobody can read them when Drop has returned.
	Drop(ctx context.Context, table RecordKey, revision Revision) error

	// Get returns the entity with an encoded key, or [ErrNoEntity].
	Get(ctx context.Context, table RecordKey, key []byte, c Consistency) (Row, error)

	// Commit applies either all mutations to the table or none, and returns the Timestamp of all written entities.
	// There are 1 to 100 mutations with different keys in one partition. The store may change the order of the
	// properties.
	//
	// Timestamps of a table never repeat, even in another incarnation. Timestamps of a key strictly increase in the
	// order in which the Commits take effect, also for deletes, and even if the clock stands still or steps back. A
	// store that does not declare TimestampsAcrossProcesses guarantees this only for the Commits of one process. It may
	// break the rule in one case: a Commit that failed with [ErrUnknown] and takes effect later keeps its Timestamp,
	// although a delete in between may have a higher one.
	//
	// If all mutations are [Expire], some of them may have been applied even if Commit returns an error. Readers cannot
	// notice, because the removed entities had expired.
	//
	// If a mutation cannot be applied, the error is a *[Refused] with the lowest index that failed. [ErrBusy] and
	// [ErrFull] guarantee that the mutations are never applied. [ErrUnknown] means that the mutations may have been
	// applied, or may be applied later. Any other error, including the error of ctx, guarantees that nothing was
	// applied. If ctx is done after the mutations were sent, Commit therefore fails with ErrUnknown.
	//
	// When Commit returns, its outcome is as durable as the store declares. If it failed because of the state of a
	// stored entity, this state is equally durable.
	Commit(ctx context.Context, table RecordKey, m []Mutation) (edm.Ticks, error)

	// Scan reads entities in ascending or descending key order; see [ScanRequest] and [Page]. A store without
	// descending order fails with [ErrUnsupported].
	Scan(ctx context.Context, table RecordKey, r ScanRequest) (Page, error)
}

// Consistency determines whether a read may return old data.
type Consistency uint8

const (
	// Strong reads see every write that returned before the read began.
	Strong Consistency = iota
	// Eventual reads may return data from a replica that lags behind.
	Eventual
)

// ScanRequest selects the entities in key ranges that match a filter.
type ScanRequest struct {
	// Ranges has at least one range. The ranges are not empty, do not overlap, and are in ascending order. A page
	// covers all of them, under its limits and in its snapshot.
	Ranges []key.Range
	Filter *odata.Filter // a nil Filter matches all entities; the store must apply the filter exactly to each entity
	// Ended makes the scan select only entities that have expired under a rule in the table's [Traits]. Otherwise it
	// selects only entities that have not expired.
	Ended bool

	// Descending makes the scan read from the end of the last range to the start of the first range.
	Descending bool
	// Count makes the scan return [Page].Count instead of rows. Rows and Bytes must then be zero; only ScanBytes,
	// Expired and Pause limit the page.
	Count bool

	// Rows, Bytes, ScanBytes and Expired limit a page; zero or nil means no limit. [PageBuilder] implements the limits:
	//
	//   - A page holds at most Rows entities.
	//   - It holds at most Bytes bytes of keys and properties, or a single entity of any size.
	//   - It ends after about ScanBytes examined bytes.
	//   - It ends when Expired returns true. Expired is called at least once per 64 KiB examined, but not before the
	//     first row.
	//
	// The store may hold locks while it calls Expired or Filter, so neither may block or call the store.
	Rows      int
	Bytes     int
	ScanBytes int
	Expired   func() bool

	// Pause may be called wherever Expired may be called, with the number of entities and bytes examined so far. The
	// store must not hold locks during the call, because Pause may block. If Pause returns true, the page ends. Pause
	// may be nil.
	Pause func(rows, size int) (end bool)

	Consistency Consistency
}

// Page is the result of a Scan.
type Page struct {
	Rows []Row
	// Count is the number of matching entities if the request has Count set.
	Count int
	// Next is the position at which the next page begins, or nil if the scan has finished its ranges; [key.From]
	// returns the remaining ranges. All rows of the page are before Next, and all rows that were not examined are at or
	// after it. Next is after the Start of the first range, and need not be the key of an entity. A page with a Next
	// may be empty.
	//
	// In a descending scan, Next is the exclusive upper bound of the next page; [key.RangesBefore] returns the
	// remaining ranges. All rows of the page are at or after Next, and all rows that were not examined are before it.
	// Next is before the End of the last range.
	Next []byte
	// Scanned is the number of bytes that the store examined, and Examined is the number of entities.
	Scanned, Examined int
	// Recycle returns the memory of Rows to the store. Recycle may be nil. Call it at most once, after the last use of
	// Rows.
	Recycle func()
}

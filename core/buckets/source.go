package buckets

import (
	"context"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Source is what a [Scan] reads from: the buckets of one table.
type Source interface {
	// Read returns rows of one bucket that lie in r, ascending from r.Start or descending from r.End. One call is one
	// read of the underlying store. If the call returns only a part of the rows, Next says where to continue. r is
	// not empty.
	//
	// Reads of several buckets may run concurrently ([Options.FanOut]). An error of one read makes the whole page
	// fail. To end the page early instead, a Source returns a Chunk without rows whose Next is the position where the
	// read began: r.Start, or r.End in a descending read.
	Read(ctx context.Context, bucket uint16, r key.Range, limit Limit) (Chunk, error)
}

// Waves is a Source that can make several reads in one call to its store, without goroutines. Scan gives it up to
// [Options.FanOut] reads of a wave (a group of concurrent reads) at a time.
type Waves interface {
	Source
	// ReadWave makes all the reads, and sets the Chunk of each to the result that Read would return.
	ReadWave(ctx context.Context, reads []Read) error
}

// Read is one read of a wave.
type Read struct {
	Bucket uint16
	Range  key.Range
	Limit  Limit
	Chunk  Chunk // the result of the read
}

// Limit bounds one read. A Source must obey Rows. It obeys the other fields as far as its store permits.
type Limit struct {
	Rows  int // maximum number of rows to examine, including those that the Source filters out; at least 1
	Bytes int // approximate number of bytes to examine; at least 1

	// Strict permits a Source to leave out a row that does not fit into Bytes. Next is then the position of this row.
	// Even the first row may be left out, and then the read returns no row. Without Strict, concurrent reads of many
	// buckets could return one large row each.
	Strict bool

	// Descending makes the read go from the end of the range to its start.
	Descending bool
	// Filter lets a Source leave out rows that certainly do not match. A Source may ignore it, because Scan checks
	// every row itself. If Filter is nil, all rows match.
	Filter *odata.Filter
	// Consistency is the consistency that the scan requests.
	Consistency table.Consistency
}

// Chunk is the result of one read. The caller owns it.
type Chunk struct {
	Rows []table.Row // rows in the range, in the order of the read
	// Next is the position where the next read of the range continues. Every row in Rows lies before Next. Every row
	// that the Source has not examined lies at or after Next. If Next is nil, the range is finished. In a descending
	// read, Next is an exclusive bound, like [table.Page].Next.
	Next []byte
	// Examined is the number of rows examined; 0 means len(Rows). It is more than len(Rows) if the Source examines
	// rows that it does not return, such as filtered rows or deleted rows.
	Examined int
	// Scanned is the number of bytes examined; 0 means the size of the keys and properties in Rows.
	Scanned int
}

// Options adapt a [Scan] to its store.
type Options struct {
	// FanOut is the maximum number of concurrent reads. With 0 or 1, reads run one after another on the calling
	// goroutine.
	FanOut int
	// ReadBytes is the maximum number of bytes that one read examines; 0 means 1 MiB. A Scan needs this much memory
	// per bucket, in addition to the memory of the page.
	ReadBytes int
	// Begin, if not nil, is called before the first read. It sets two fields of the page: Traits (the declared
	// options of the table) and Now.
	Begin func(*table.PageBuilder)
	// Report, if not nil, is called exactly once before Scan returns, even if Scan fails.
	Report func(Cost)
}

// Cost is the cost of a Scan.
type Cost struct {
	Reads int // number of calls of Source.Read
	Waves int // number of groups of concurrent reads for which Scan waited
	Rows  int // number of rows that the Source examined, including rows that no page contains
	Bytes int // number of bytes that the Source examined, including those of rows that no page contains
}

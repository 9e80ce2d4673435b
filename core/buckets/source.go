package buckets

import (
	"context"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Source reads the buckets of one table.
type Source interface {
	// Read returns rows of one bucket that lie in r, ascending from r.Start or descending from r.End. One call is one
	// read of the underlying store. If the call returns only a part of the rows, Next says where to continue. r is
	// not empty.
	//
	// Reads of several buckets may run concurrently ([Options.FanOut]). An error fails the whole page. To end the
	// page early instead, a Source returns a Chunk without rows whose Next is where the read began: r.Start, or r.End
	// in a descending read.
	Read(ctx context.Context, bucket uint16, r key.Range, limit Limit) (Chunk, error)
}

// Waves is a Source that can make several reads in one call to its store, without goroutines. Scan passes it up to
// [Options.FanOut] reads of a wave at a time.
type Waves interface {
	Source
	// ReadWave makes all the reads and sets their Chunks, each as Read would.
	ReadWave(ctx context.Context, reads []Read) error
}

// Read is one read in a wave.
type Read struct {
	Bucket uint16
	Range  key.Range
	Limit  Limit
	Chunk  Chunk // the result of the read
}

// Limit bounds one read. A Source must obey Rows; it obeys the rest as far as its store allows.
type Limit struct {
	Rows  int // most rows to examine, including those that the Source filters out; at least 1
	Bytes int // about how many bytes to examine; at least 1

	// Strict permits a Source to leave out a row that does not fit Bytes, even the first one. Next is then the
	// position of that row, which may be where the range begins. This keeps concurrent reads of many buckets from
	// returning one large row each.
	Strict bool

	// Descending makes the read go from the end of the range to its start.
	Descending bool
	// Filter lets a Source leave out rows that certainly do not match. Doing so is optional, because Scan judges
	// every row itself. Nil means that all rows match.
	Filter *odata.Filter
	// Consistency is the consistency that the request asks for.
	Consistency table.Consistency
}

// Chunk is the result of one read. The caller owns it.
type Chunk struct {
	Rows []table.Row // rows within the range, in the order of the read
	// Next is where the bucket continues: after every row of the chunk, and at or before every row of the range that
	// was not examined. Nil means that the range is finished. In a descending read it is an exclusive bound, like
	// [table.Page].Next.
	Next []byte
	// Examined is the number of rows examined; 0 means len(Rows). It exceeds len(Rows) if the Source filters out rows
	// or reads remains of deleted rows.
	Examined int
	// Scanned is the number of bytes examined; 0 means the size of the keys and properties in Rows.
	Scanned int
}

// Options adapt a [Scan] to the store that it reads.
type Options struct {
	// FanOut is the maximum number of concurrent reads. With 0 or 1, reads run one after another on the calling
	// goroutine.
	FanOut int
	// ReadBytes is the largest number of bytes that one read examines; 0 means 1 MiB. A Scan needs this much memory
	// per bucket, and also the memory of the page.
	ReadBytes int
	// Begin, if not nil, is called before the first read, to set the table's Traits and the time Now in the page.
	Begin func(*table.PageBuilder)
	// Report, if not nil, is called exactly once before Scan returns, even if Scan fails.
	Report func(Cost)
}

// Cost is the cost of a Scan.
type Cost struct {
	Reads int // calls of Source.Read
	Waves int // groups of concurrent reads that Scan waited for
	Rows  int // rows that the Source examined, including those that no page used
	Bytes int // bytes that the Source examined, including those of rows that no page used
}

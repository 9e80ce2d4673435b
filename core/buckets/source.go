package buckets

import (
	"context"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Source reads the buckets of one table for [Scan].
type Source interface {
	// Read returns rows of one bucket in r, ascending from r.Start or descending from r.End, in one read of the
	// underlying store. r is not empty. Chunk.Next is set if the result is incomplete. Calls for several buckets may
	// run concurrently ([Options.FanOut]).
	//
	// An error fails the whole page. To end the page early instead, return no rows and the start of the read as Next.
	Read(ctx context.Context, bucket uint16, r key.Range, limit Limit) (Chunk, error)
}

// Waves is a Source that can run a wave (a group of concurrent reads) in one call to its store, without goroutines. A
// wave has at most [Options.FanOut] reads.
type Waves interface {
	Source
	// ReadWave runs all reads and sets their Chunk to the result of Read.
	ReadWave(ctx context.Context, reads []Read) error
}

// Read is one read of a wave.
type Read struct {
	Bucket uint16
	Range  key.Range
	Limit  Limit
	Chunk  Chunk
}

// Limit bounds one read. A Source must honor Rows. It honors the other fields as far as its store permits.
type Limit struct {
	Rows  int // maximum number of rows to examine, including rows that the Source filters out; at least 1
	Bytes int // approximate number of bytes to examine; at least 1

	// Strict permits a Source to omit the next row, and to return its position as Next, if the row does not fit into
	// Bytes. This holds even for the first row of a read.
	Strict bool

	// Descending makes the read go from the end of the range to its start.
	Descending bool
	// Filter permits a Source to omit rows that do not match. A Source may ignore the filter, because Scan checks every
	// row. A nil Filter matches all rows.
	Filter *odata.Filter
	// Consistency is the consistency that the scan requests.
	Consistency table.Consistency
}

// Chunk is the result of one read. The caller owns it.
type Chunk struct {
	Rows []table.Row // rows in the range, in the order of the read
	// Next is the position at which the next read of the range continues, or nil if the range is finished. Rows before
	// Next have been examined, and rows from Next on have not. In a descending read, Next is an exclusive bound.
	Next []byte
	// Examined is the number of rows examined, including rows that were not returned, such as filtered or deleted rows.
	// If Examined is 0, len(Rows) is used instead.
	Examined int
	// Scanned is the number of bytes that the read examined. If it is 0, the size of the keys and properties in Rows is
	// used instead.
	Scanned int
}

// Options adapt a [Scan] to its store.
type Options struct {
	// FanOut is the maximum number of concurrent reads. If it is 0 or 1, reads run one after another on the calling
	// goroutine.
	FanOut int
	// ReadBytes is the maximum number of bytes that one read examines. If ReadBytes is 0, the maximum is 1 MiB. A Scan
	// needs this much memory per bucket, in addition to the page.
	ReadBytes int
	// Begin is called before the first read, to set the page's Traits and Now. Begin may be nil.
	Begin func(*table.PageBuilder)
	// Report is called exactly once before Scan returns, even after an error. Report may be nil.
	Report func(Cost)
}

// Cost is the cost of a Scan.
type Cost struct {
	Reads int // number of calls of Source.Read
	Waves int // number of groups of concurrent reads
	Rows  int // number of rows that the Source examined, including rows that are on no page
	Bytes int // number of bytes that the Source examined, including bytes of rows that are on no page
}

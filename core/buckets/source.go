package buckets

import (
	"context"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Source reads the buckets of one table.
type Source interface {
	// Read returns rows of one bucket that lie in r, ascending from r.Start, or descending
	// from r.End. One call is one read of the store below: it may return only a part, and
	// then Next says where to continue. r is not empty.
	//
	// Reads of several buckets may run at the same time ([Options.FanOut]). An error fails
	// the whole page. To end the page instead, a Source returns a Chunk that stands still:
	// no rows, and Next equal to r.Start, or r.End.
	Read(ctx context.Context, bucket uint16, r key.Range, limit Limit) (Chunk, error)
}

// Waves is a Source that can make several reads in one call of the store below, without
// goroutines. Scan passes it the reads of a wave together, at most [Options.FanOut].
type Waves interface {
	Source
	// ReadWave does all the reads and sets their Chunks, each as Read would.
	ReadWave(ctx context.Context, reads []Read) error
}

// Read is one read of a wave.
type Read struct {
	Bucket uint16
	Range  key.Range
	Limit  Limit
	Chunk  Chunk // the result
}

// Limit bounds one read. A Source must keep to Rows, and to the rest as far as its store
// allows.
type Limit struct {
	Rows  int // to examine at most, including those that the Source sorts out; at least 1
	Bytes int // to examine, about; at least 1

	// Strict: a row that does not fit Bytes may be left out even if it is the first. Next
	// is then its position, which may be where the range begins. It keeps reads of many
	// buckets at the same time from returning a large row each.
	Strict bool

	// Descending: the read goes from the end of the range to its start.
	Descending bool
	// Filter lets a Source sort out rows that surely do not match. It need not:
	// Scan judges every row itself. Nil: all match.
	Filter *odata.Filter
	// Consistency is that of the request.
	Consistency table.Consistency
}

// Chunk is the result of one read. It belongs to the caller.
type Chunk struct {
	Rows []table.Row // in the order of the read, all in the range
	// Next is where the bucket continues: after every row of the chunk, at or before
	// every row of the range that was not examined. Nil: the range is finished. If the
	// read descends, it is an exclusive bound, as [table.Page].Next.
	Next []byte
	// Examined is the number of rows examined, 0 for len(Rows). It is higher if the Source
	// sorts out rows or finds remains of deleted ones.
	Examined int
	// Scanned is the number of bytes examined, 0 for the keys and properties of
	// Rows.
	Scanned int
}

// Options configure a [Scan] for the store below it.
type Options struct {
	// FanOut is how many reads may run at the same time. With 0 or 1 they run one after
	// the other on the calling goroutine.
	FanOut int
	// ReadBytes is the most that one read examines, 0 for 1 MiB. It bounds the memory of
	// Scan: that much per bucket, and the page.
	ReadBytes int
	// Begin, if not nil, sets what the page has to know of the table: its Traits, and Now.
	Begin func(*table.PageBuilder)
	// Report, if not nil, is called once, before Scan returns, also with an error.
	Report func(Cost)
}

// Cost is the cost of a Scan.
type Cost struct {
	Reads int // calls of Source.Read
	Waves int // times it waited for reads that ran side by side
	Rows  int // rows examined by the Source, including those that no page used
	Bytes int // bytes examined by the Source, likewise
}

package buckets

import (
	"context"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Source reads the buckets of one table.
type Source interface {
	// Read returns rows of one bucket that lie in r, ascending from r.Start. One
	// call is one read of the store below: it may return less than there is, but
	// then says where to go on. r is not empty.
	//
	// Reads of several buckets may run at the same time ([Options.FanOut]). An
	// error fails the page, whatever was found before. A Source that would rather
	// end the page where it got answers a Chunk that stands still: no rows and
	// Next equal to r.Start.
	Read(ctx context.Context, bucket uint16, r key.Range, limit Limit) (Chunk, error)
}

// Waves is a Source that can do several reads in one call of the store below, for
// which it needs no goroutines. Scan hands it the reads of a wave together, at
// most [Options.FanOut] of them.
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
	Chunk  Chunk // what it found
}

// Limit says how much one read may do. A Source keeps to Rows; the rest it heeds
// as far as its store lets it.
type Limit struct {
	Rows  int // to examine at most, 1 at least, rows that the Source sorts out included
	Bytes int // to examine, about; 1 at least

	// Strict: a row that does not fit Bytes may be left out even if it is the first:
	// Next is then its key, also where that is the Start of the range. So many
	// buckets with large rows are read side by side and do not come all at once.
	Strict bool

	// Filter lets a Source sort out rows that surely do not match. It need not:
	// Scan judges every row itself. Nil: all match.
	Filter *odata.Filter
	// Consistency is that of the request.
	Consistency table.Consistency
}

// Chunk is what one read found. It belongs to the caller.
type Chunk struct {
	Rows []table.Row // ascending, all in the range
	// Next is where the bucket goes on: behind every row of the chunk, at or
	// before every row of the range that was not examined. Nil: the range is
	// finished.
	Next []byte
	// Examined is the number of rows examined, 0 for len(Rows). It is more where
	// the Source sorts out rows, or finds the remains of deleted ones.
	Examined int
	// Scanned is the number of bytes examined, 0 for the keys and properties of
	// Rows.
	Scanned int
}

// Options of [Scan] that depend on the store below.
type Options struct {
	// FanOut is how many reads may run at the same time. 0 and 1: one after the
	// other, on the goroutine that called.
	FanOut int
	// ReadBytes is what one read examines at most, 0 for 1 MiB. It bounds what
	// Scan holds: that much a bucket, and the page.
	ReadBytes int
	// Report, if not nil, is called once, before Scan returns, also with an error.
	Report func(Cost)
}

// Cost is what a Scan cost.
type Cost struct {
	Reads int // calls of Source.Read
	Waves int // times it waited for reads that ran side by side
	Rows  int // rows examined by the Source, those included that no page used
	Bytes int // bytes examined by the Source, likewise
}

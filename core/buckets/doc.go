// Package buckets spreads the partitions of a table over hash keys and reads
// them back in order.
//
// # Buckets
//
// Stores that scale by a hash key (DynamoDB, Durable Objects) keep a table under
// a fixed number of them, its buckets, and the bucket of a partition is a hash
// of its PartitionKey ([Of]). A partition lives in one bucket, in which rows are
// ordered by their encoded keys: so a batch touches one hash key, a query of a
// partition reads one, and only a scan over partitions meets them all.
//
// # Scans
//
// [Scan] makes a page of a table by merging what a [Source] reads of each
// bucket:
//
//	page, err := buckets.Scan(ctx, src, count, request, buckets.Options{FanOut: 16})
//
// There is a stream for each bucket in which a range can have rows: one if the
// range lies within a partition, else all. A stream has a position, the first
// row that was read of it and not examined, or else where its next read starts.
// The smallest position of all streams is that of the page: rows before it were
// examined, and its Next is where it stands when the page ends. Rows that were
// read beyond it are dropped. Next is not the last row returned, with which a
// stream that found nothing would be read again for ever, nor where any stream
// got to, which would skip what the others did not.
//
// Only the stream at the smallest position is worth a read, so it has the first
// claim on every budget, and its first read is made whatever the budget: every
// page gets on. Where reads stand still and it cannot, it is [table.ErrBusy],
// never a page with the position it came with.
//
// # How much is read
//
// To read too little costs another read, too much is read in vain. The first
// read of each bucket asks for its part of the page and a tenth more. Then the
// stream at the smallest position is read again, for what is still missing: the
// rest of the partition it is in, taken to be in proportion to what was seen of
// it, and its part of the other rows, with a margin by their variance, that is by
// the length of partitions, which is learned from what was read. A filter's
// selectivity and the size of rows are learned too; nothing is kept between
// pages.
//
// What is read of several streams at once keeps to the budget together: reads but
// that of the front leave out a row that is too large for their part and tell where
// it is ([Limit].Strict), and it is read when the merge gets there. Otherwise a page
// would hold a row of each bucket, however large.
//
// A read takes 4 KiB of the budget of bytes at least, so that the number of reads
// is bounded too where ranges are empty.
//
// What may complete a page is read with one row more, so that the last page says
// that it is. Only where the reads of all buckets happened to end with their last
// rows is each asked once more, instead of by an empty page.
//
// A page of 1000 rows of 1 KiB out of 8 buckets takes, by a simulation that is
// among the tests (fixed partition lengths, pages that start anywhere, a read
// returns 1 MiB at most):
//
//	rows a partition   reads, mean / 95 % / worst   waves   rows read per row returned
//	             1             9.0 / 10 / 11        2.0                         1.11
//	            10            11.4 / 13 / 13        4.4                         1.21
//	            47            12.7 / 14 / 15        5.7                         1.49
//	           100            12.3 / 14 / 14        5.3                         1.50
//	           200            12.7 / 13 / 13        5.7                         1.92
//	           500            12.1 / 13 / 13        5.1                         1.96
//	          4000            11.2 / 12 / 12        4.2                         1.97
//
// The reads of a wave run side by side ([Options].FanOut). Tried and left out:
// reading what other streams may need later along with the front one, which
// takes a tenth fewer waves and a tenth more rows; first reads of less, which
// need more reads for short partitions; and refills that end with the partition,
// after which the bucket must be read once more to learn what comes next. Only
// where few rows match a filter are several streams filled at a time, as all
// they hold will be examined.
package buckets

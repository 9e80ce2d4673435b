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
// read beyond it are dropped. Next is not the last row returned: then a stream that
// found nothing would be read again on every page. Nor is it the position of any
// single stream: that would skip rows of the others.
//
// Only the stream at the smallest position is worth a read, so it has the first claim
// on every budget, and its first read is made whatever the budget: every page makes
// progress. If reads stand still and a page cannot, the answer is [table.ErrBusy],
// never a page that ends at its own start.
//
// # How much is read
//
// Reading too little costs another read, reading too much wastes rows. The first read of
// each bucket asks for its part of the page and a tenth more. Then the stream at the
// smallest position is read again for the missing rows: the rest of its current
// partition, estimated from the rows seen of it, and its part of the other rows. The
// margin depends on their variance, that is on the length of partitions, which is learned
// from the rows read. So are the selectivity of a filter and the size of rows. Nothing is
// kept between pages.
//
// Reads of several streams at once share the budget: all but that of the front stream
// leave out a row that is too large for their part and report its position
// ([Limit].Strict). It is read when the merge reaches it. Otherwise a page would hold a
// row of each bucket, however large.
//
// A read counts at least 4 KiB of the budget of bytes, which bounds the number of reads
// of empty ranges too.
//
// A read that may complete a page asks for one row more, so that the last page has no
// Next. If the reads of all buckets happened to end with their last rows, each is read
// once more, which is cheaper than an empty page.
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
// The reads of a wave run side by side ([Options].FanOut). Tried and rejected: to read
// ahead in other streams along with the front one (a tenth fewer waves, a tenth more
// rows); smaller first reads (more reads for short partitions); refills that end with the
// partition (one more read to learn what comes next). Only if few rows match a filter are
// several streams filled at a time, as all their rows will be examined.
package buckets

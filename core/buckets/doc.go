// Package buckets spreads the partitions of a table over hash keys and reads them back in key order.
//
// # Buckets
//
// Stores that scale by hash key (DynamoDB, Durable Objects) keep a table under a fixed number of hash keys, the
// table's buckets. A hash of the PartitionKey chooses the bucket of a partition ([Of]). Each partition is in exactly
// one bucket, and a bucket orders its rows by encoded key. So a batch writes to one hash key, a query of one
// partition reads one, and only a scan over partitions reads them all.
//
// # Scans
//
// [Scan] makes one page of a table by merging what a [Source] reads from each bucket:
//
//	page, err := buckets.Scan(ctx, src, count, request, buckets.Options{FanOut: 16})
//
// A stream reads one range in one bucket. A range within a single partition needs one stream; any other range needs
// one stream per bucket. The position of a stream is its first row that was read but not yet examined, or else where
// its next read starts. The position of the page is the smallest position of all streams: every row before it was
// examined. When the page ends, that position becomes Next, and rows already read at or after it are dropped. Two
// simpler choices for Next would be wrong. With the last returned row, every page would read again the streams that
// found nothing; with the position of any other stream, rows of the rest would be skipped.
//
// Only the stream at the smallest position, the front stream, can move the page. It has first claim on every budget,
// and its first read is made even if the budget is spent, so every page makes progress. If a Source returns nothing
// and the page cannot move, the error is [table.ErrBusy]; a page never ends where it started.
//
// # How much is read
//
// Too small a read costs another read; too large a read wastes rows. The first read of each bucket asks for the
// bucket's share of the page plus a tenth. After that the front stream is read again for the missing rows: the rest
// of its current partition, estimated from the rows already seen, and its share of the other rows. The safety margin
// depends on the variance of partition lengths, which the scan learns from the rows it reads. It learns the
// selectivity of the filter and the size of rows in the same way. Nothing is remembered between pages.
//
// Concurrent reads share the budget. Every read except that of the front stream leaves out a row that does not fit
// its share and reports the row's position ([Limit].Strict); the row is read when the merge reaches it. Otherwise one
// page could hold a row from every bucket, however large each is.
//
// Each read is charged at least 4 KiB of the byte budget, which also bounds the number of reads of empty ranges.
//
// A read that may complete the page asks for one row more, so that the last page has no Next. If every bucket's read
// happens to end exactly at the bucket's last row, each bucket is read once more, which is cheaper than an empty
// page.
//
// A simulation in the tests (fixed partition lengths, pages that start anywhere, reads of at most 1 MiB) gives these
// costs of a page of 1000 rows of 1 KiB from 8 buckets:
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
// A wave is a group of reads that run concurrently ([Options].FanOut). Three variants were tried and rejected:
// reading ahead in other streams together with the front stream (a tenth fewer waves, a tenth more rows); smaller
// first reads (more reads for short partitions); refills that end with the partition (one more read to learn what
// comes next). Several streams are refilled together only if few rows match the filter, because then all their rows
// will be examined anyway.
package buckets

// Package buckets spreads the partitions of a table over hash keys and reads them back in key order.
//
// # Buckets
//
// Stores that scale by hash key (DynamoDB, Durable Objects) divide a table into a fixed number of buckets. The bucket
// of a partition is a hash of the PartitionKey ([Of]). Each partition is in exactly one bucket, and a bucket orders its
// rows by encoded key. A batch therefore writes to one bucket, a query of one partition reads one bucket, and only a
// scan over several partitions reads all buckets.
//
// # Scans
//
// [Scan] returns one page of a table. It merges the rows that a [Source] reads from each bucket:
//
//	page, err := buckets.Scan(ctx, src, count, request, buckets.Options{FanOut: 16})
//
// A stream reads one range in one bucket. A range within a single partition needs one stream. Any other range needs one
// stream per bucket. The position of a stream is its first row that was read but not examined, or the start of its next
// read if there is none. The position of the page is the smallest position of all streams: every row before it has been
// examined. When the page ends, Next is the position of the page, and rows at or after it are dropped, even if they
// were already read. Two simpler choices for Next would be wrong. If Next were the last returned row, the next page
// would repeat all reads after it that returned no row. If Next were a larger position, the scan would skip unread rows
// of the streams before it.
//
// Only the stream at the smallest position, the front stream, can advance the page. Its read is the first to get a
// share of each budget. Its first read runs even if the budget is used up, so every page makes progress. If the Source
// returns nothing and the page cannot advance, the error is [table.ErrBusy]. A page never ends where it started.
//
// # How much is read
//
// A read that is too small costs another read, and a read that is too large wastes rows. The first read of each bucket
// requests an equal share of the page plus a tenth. Later reads go to the front stream. Such a read requests the
// estimated rest of the current partition, the stream's equal share of the rows that are still missing, and some spare
// rows. The number of spare rows depends on the variance of partition lengths. The scan estimates this variance, the
// selectivity of the filter and the size of rows from the rows that it reads. It keeps no estimates between pages.
//
// Concurrent reads share the byte budget equally. If the next row does not fit into its read's part of the budget, the
// read omits the row and reports the row's position ([Limit].Strict). Only the read of the front stream may return such
// a row. An omitted row is read when the merge reaches it. Without this rule, one page could hold a row from every
// bucket, however large the rows are.
//
// Each read is charged at least 4 KiB of the byte budget, so the budget also bounds the number of reads of empty
// ranges.
//
// A read that may complete the page requests one more row, to see whether there is a next page. If the reads of all
// buckets ended exactly at their last requested row, each bucket is read once more. That is cheaper than an empty last
// page.
//
// In a simulation in the tests (fixed partition lengths, pages with random starts, reads of at most 1 MiB), a page of
// 1000 rows of 1 KiB from 8 buckets costs:
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
// A wave is a group of reads that run concurrently ([Options].FanOut). Three variants were measured and rejected:
//
//   - reading other streams ahead, together with the front stream: a tenth fewer waves, but a tenth more rows read;
//   - smaller first reads: more reads if partitions are short;
//   - later reads that end with the current partition: one more read to learn whether the page is complete.
//
// After the first wave, several streams are read concurrently only if few rows match the filter, because the page then
// needs the rows of all these streams.
package buckets

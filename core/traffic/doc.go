// Package traffic counts the keys that requests read and write in each table, in
// bounded memory, so that a server can say which of its partitions are hot and
// how its tables are queried.
//
// A [Counter] follows the busiest tables. For each of them it keeps
//
//   - the heaviest partitions by reads, writes, rows scanned and throttled
//     requests, by the algorithm Space-Saving: no count is too low, and none is
//     too high by more than a 256th of the total;
//   - a matrix of 256 ranges of keys by time: two hours by the minute and seven
//     days by the quarter of an hour;
//   - the shapes of its queries, with an example of each;
//   - how many inserts came at the end or the start of the table.
//
// Counts of partitions and of shapes are kept for one to two days, in two windows.
//
// Of every table with a request in the last hour it also keeps an [Hour], in which no
// request is missed or estimated.
//
// Above 1,000 reads by key between two Ticks, a random one in eight is counted, and
// counts for eight. So the count of a partition with n such reads has a
// standard deviation of the square root of 7n: a percent of 70,000. The sums stay
// exact.
//
// [Counter.Add] does not wait for other requests. If one is being counted in the same
// table at this moment, the request is only counted in the Hour and as missed. So shares stay
// right, and the number of missed requests is known. No goroutine runs here: the
// owner calls [Counter.Tick] every second or so.
//
// # Memory
//
// A table needs about 25 KiB and the space for its counts. At most these are
// two windows of four lists of 256 partitions with names cut to 128 bytes
// (400 KiB), 792 columns of the matrix (20 bytes for each range that was touched;
// 4.1 MiB if all were, each time), samples and bounds of ranges (100 KiB). So 16
// tables need at most 74 MiB, and 1 to 10 MiB in practice. Hours are kept of at most
// 10,000 tables, in 700 bytes each.
package traffic

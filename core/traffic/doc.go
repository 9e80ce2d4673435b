// Package traffic counts the keys that requests read and write in each table, in bounded memory, so that a server can
// report which partitions are hot and how tables are queried.
//
// A [Counter] tracks the busiest tables. For each of them it keeps
//
//   - the heaviest partitions by reads, writes, rows scanned and throttled
//     requests, found with the Space-Saving algorithm: no count is too low, and
//     none is too high by more than a 256th of the total;
//   - a matrix of 256 key ranges over time: two hours by the minute and seven
//     days by the quarter of an hour;
//   - its queries, grouped by shape (the filter without its values), with an
//     example of each shape;
//   - how many inserts had a key at the end or the start of the table.
//
// Counts of partitions and shapes cover the last one to two days, in two windows of at most a day each.
//
// For every table with a request in the last hour the Counter also keeps an [Hour], which counts all requests
// exactly.
//
// Of the reads by key between two Ticks, the first 1,000 are all counted. Of the further reads, one in eight is sampled
// at random and counted as eight. The count of a partition with n sampled reads has a standard deviation of the square
// root of 7n, one percent at n = 70,000. Totals remain exact.
//
// [Counter.Add] does not wait for other requests. If another request to the same table is being counted at that moment,
// the new request is counted only in the Hour and as missed. So the counts keep the right proportions, and the number
// of missed requests is known. The package starts no goroutines: the owner calls [Counter.Tick] about every second.
//
// # Memory
//
// A table needs about 25 KiB plus its counts. These are at most two windows with four lists of 256 partitions, with
// names truncated to 128 bytes (400 KiB); 792 columns of the matrix (20 bytes per range with traffic, 4.1 MiB if
// every range had some all the time); and samples and range bounds (100 KiB). So 16 tables need at most 74 MiB, and 1
// to 10 MiB in practice. Hours are kept for at most 10,000 tables, at 700 bytes each.
package traffic

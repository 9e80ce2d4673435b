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
package buckets

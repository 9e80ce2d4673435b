// Package export writes tables to files in a directory or under a prefix in a bucket, with a manifest of the files. It
// can also write one table to a stream.
package export

// Package export writes tables to files in a directory or under a prefix in a bucket, or one
// table to a stream. A manifest next to the files lists them.
package export

// Package export writes tables to files in a directory or under a prefix in a bucket. It can also
// write one table to a stream. A manifest next to the files lists all files.
package export

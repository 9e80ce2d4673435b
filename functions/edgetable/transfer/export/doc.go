// Package export writes tables to the files of a place, which is a directory or a prefix in a
// bucket, or one table to a stream. The manifest of a place lists its files.
package export

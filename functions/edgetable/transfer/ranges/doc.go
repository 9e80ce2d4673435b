// Package ranges knows keys and ranges of a table: the filters that read a range, the order
// of ranges, and how a range is divided in about its middle.
package ranges

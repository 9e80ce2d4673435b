// Package transfer moves entities between table services and files: it finds parts
// of a table that can be read at the same time, reads and writes the formats of
// files, and counts.
package transfer

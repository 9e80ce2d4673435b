// Package ranges implements keys and key ranges of a table. It makes the filters that read a range,
// orders ranges, and divides a range near its middle.
package ranges

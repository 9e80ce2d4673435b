// Package ranges implements key ranges of a table: their filters, their order and their division.
package ranges

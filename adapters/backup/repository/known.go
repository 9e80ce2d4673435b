package repository

import "time"

// known are the parts that need not be written again.
type known struct {
	files map[file][]Part
	sums  map[string]Part // by the name of an object without its run; only without encryption

	after, until time.Time // objects whose time came between these are read again
}

// file identifies a file of the data directory, which never changes once it is
// written.
type file struct {
	name           string
	size, modified int64
}

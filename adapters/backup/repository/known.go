package repository

import "time"

// known holds the parts that are already stored and need not be written again.
type known struct {
	files map[file][]Part
	sums  map[string]Part // by object name without the run; only used without encryption

	after, until time.Time // objects whose time to be read again is in this period; see rereadEvery
}

// file identifies a file of the data directory, which never changes once it is
// written.
type file struct {
	name           string
	size, modified int64
}

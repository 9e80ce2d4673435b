package repository

import "time"

// knownParts holds the parts that are already stored and need not be written again.
type knownParts struct {
	files map[file][]Part
	sums  map[string]Part // by object name without the run; used only without encryption

	after, until time.Time // A backup reads an object again if the object is due in this period. See rereadEvery.
}

// file identifies a file of the data directory. A file never changes after it was written.
type file struct {
	name           string
	size, modified int64
}

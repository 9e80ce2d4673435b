package repository

import "time"

// knownParts holds the parts that are already stored and need not be written again.
type knownParts struct {
	files map[file][]Part
	sums  map[string]Part // the key is the checksum in the name of the part's object; empty if backups are encrypted

	after, until time.Time // A backup reads an object again if isDue selects the object for the period (after, until].
}

// file identifies a file of the data directory. A file never changes after it was written.
type file struct {
	name           string
	size, modified int64
}

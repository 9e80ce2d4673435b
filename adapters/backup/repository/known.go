package repository

import (
	"encoding/binary"
	"encoding/hex"
	"time"
)

// knownParts holds the parts that are already stored and need not be written again.
type knownParts struct {
	files map[file][]Part
	sums  map[string]Part // known parts, by the checksum that the name of the part's object contains; empty if backups are encrypted

	after, until time.Time // A backup reads an object again if the object is due in (after, until]; see isDue.
}

// file identifies a file of the data directory. A file never changes after it was written.
type file struct {
	name           string
	size, modified int64
}

// rereadEvery is the period in which backups read each stored object once, because disks can damage data.
const rereadEvery = 30 * 24 * time.Hour

// isDue reports whether an object must be read again at some time in (lastCheck, now]. Each object has one such time in
// each period of length rereadEvery.
func isDue(object string, lastCheck, now time.Time) bool {
	var sum [4]byte
	_, _ = hex.Decode(sum[:], []byte(object[:2*len(sum)])) // [Manifest.check] has checked that the name is hexadecimal
	phase := time.Duration(binary.BigEndian.Uint32(sum[:])) * (rereadEvery >> 32)
	last := now.Add(-phase).Truncate(rereadEvery).Add(phase)
	return last.After(lastCheck)
}

// Package manifest determines from the records of a Pebble MANIFEST which data files and logs of a store are in use.
// Pebble itself reads a MANIFEST only to open the whole store, and stops at the first damage.
//
// The package reads the format of Pebble 2.1. A test compares its results with Pebble's own.
package manifest

import (
	"encoding/binary"
	"errors"
)

// State says which files of a store are in use, according to the records of a MANIFEST.
type State struct {
	// Live contains the number of each data file that a record has added. The value says whether the file is still in
	// use.
	Live map[uint64]bool
	// Sizes has the size in bytes of each file in Live, by number.
	Sizes map[uint64]uint64
	// FirstLog is the number of the oldest log whose commits are not in data files.
	FirstLog uint64
}

// The tags of a record. See package manifest of Pebble.
const (
	tagComparator     = 1
	tagLogNumber      = 2
	tagNextFileNumber = 3
	tagLastSequence   = 4
	tagCompactPointer = 5
	tagDeletedFile    = 6
	tagNewFile        = 7
	tagPrevLogNumber  = 9
	tagNewFile2       = 100
	tagNewFile4       = 103
	tagNewFile5       = 104
	tagCreatedBacking = 105
	tagRemovedBacking = 106

	customEnd    = 1
	customUnsafe = 1 << 6
)

var errRecord = errors.New("a record of the MANIFEST has a format that this version does not know")

// Read returns the state after all records. It returns an error if a record has an unknown form. The state then
// includes all other records.
func Read(records [][]byte) (State, error) {
	s := State{Live: map[uint64]bool{}, Sizes: map[uint64]uint64{}}
	var failed error
	for _, r := range records {
		d := decoder{rest: r}
		for len(d.rest) > 0 && !d.bad {
			d.edit(d.number())
		}
		if d.bad {
			failed = errRecord
			continue
		}
		for _, n := range d.deleted {
			s.Live[n] = false
		}
		for i, n := range d.added { // add files after the deletions, because a MANIFEST record that moves a file to another level both deletes and adds the file
			s.Live[n], s.Sizes[n] = true, d.sizes[i]
		}
		s.FirstLog = max(s.FirstLog, d.log)
	}
	return s, failed
}

type decoder struct {
	rest           []byte
	bad            bool
	added, deleted []uint64
	sizes          []uint64
	log            uint64
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bytes() {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

func (d *decoder) edit(tag uint64) {
	switch tag {
	case tagComparator:
		d.bytes()
	case tagLogNumber:
		d.log = d.number()
	case tagNextFileNumber, tagLastSequence, tagPrevLogNumber, tagRemovedBacking:
		d.number()
	case tagCompactPointer:
		d.number()
		d.bytes()
	case tagCreatedBacking:
		d.number()
		d.number()
	case tagDeletedFile:
		d.number() // skip the level
		d.deleted = append(d.deleted, d.number())
	case tagNewFile, tagNewFile2, tagNewFile4, tagNewFile5:
		d.newFile(tag)
	default:
		d.bad = true
	}
}

func (d *decoder) newFile(tag uint64) {
	d.number() // skip the level
	file := d.number()
	size := d.number()
	d.bounds(tag)
	if tag != tagNewFile { // skip the sequence numbers
		d.number()
		d.number()
	}
	if tag == tagNewFile4 || tag == tagNewFile5 {
		for custom := d.number(); custom != customEnd && !d.bad; custom = d.number() {
			if custom&customUnsafe != 0 { // a field with this bit must not be skipped; the store never writes such a field
				d.bad = true
			} else {
				d.bytes()
			}
		}
	}
	d.added, d.sizes = append(d.added, file), append(d.sizes, size)
}

func (d *decoder) bounds(tag uint64) {
	if tag != tagNewFile5 {
		d.bytes()
		d.bytes()
		return
	}
	if len(d.rest) == 0 {
		d.bad = true
		return
	}
	marker := d.rest[0]
	d.rest = d.rest[1:]
	if marker&1 != 0 { // skip the bounds of the point keys
		d.bytes()
		d.bytes()
	}
	d.bytes() // skip the bounds of the range keys
	d.bytes()
}

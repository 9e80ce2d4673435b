// Package storage defines the storage of an object and the keys of its rows.
package storage

import (
	"encoding/binary"
	"iter"

	"edgetable/core/edm"
)

// Rows is the storage of an object: an ordered map from keys to values. A key and its value have at most 2 MB together.
// All changes of one Handle are one transaction.
//
// The methods return no errors: after a failure, they must abort the transaction and the engine, by a panic or a trap.
//
// Results are read-only and valid until the next call of a method. Put does not retain its arguments.
type Rows interface {
	Get(key []byte) (value []byte, ok bool)
	Put(key, value []byte)
	Delete(key []byte)
	// DeleteAll removes all rows except the lines of feeds, and releases their storage.
	DeleteAll()
	// DropDay removes the lines of a day, see LineKey.
	DropDay(day uint32)
	// Size returns the approximate size of all existing rows in bytes.
	Size() int64
	// Scan iterates over the rows with from ≤ key < to, in order. The parameter bytes is a hint: the number of bytes to
	// read from the database at a time. No other method may be called before the iteration ends.
	Scan(from, to []byte, bytes int) iter.Seq2[[]byte, []byte]
	// ScanBack iterates over the same rows as Scan, from the last to the first.
	ScanBack(from, to []byte, bytes int) iter.Seq2[[]byte, []byte]
}

// LeastRun and MostRun are the minimum and maximum number of bytes that a scan reads at a time.
const (
	LeastRun = 4 << 10
	MostRun  = 256 << 10
)

// Ticks reads a row that holds a time. It returns 0 if there is no such row.
func Ticks(r Rows, key []byte) edm.Ticks {
	if v, ok := r.Get(key); ok && len(v) == 8 {
		return edm.Ticks(binary.BigEndian.Uint64(v))
	}
	return 0
}

// PutTicks writes a row that holds a time.
func PutTicks(r Rows, key []byte, t edm.Ticks) {
	r.Put(key, binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(t)))
}

// Delete deletes rows with from ≤ key < to, but not more than limit, and returns how many it deleted.
func Delete(r Rows, from, to []byte, limit int) int {
	var list [][]byte
	for k := range r.Scan(from, to, MostRun) {
		if len(list) == limit {
			break
		}
		list = append(list, append([]byte(nil), k...))
	}
	for _, k := range list {
		r.Delete(k)
	}
	return len(list)
}

// HasAny reports whether there is a row with from ≤ key < to.
func HasAny(r Rows, from, to []byte) bool {
	for range r.Scan(from, to, LeastRun) {
		return true
	}
	return false
}

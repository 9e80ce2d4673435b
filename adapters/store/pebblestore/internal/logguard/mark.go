package logguard

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"edgetable/core/edm"
)

// Mark is a part of the log record of each commit. Its stored form is:
//
//	"ET" · number of the commit (8) · number of the last commit known to be synced (8)
//
// At a start, Marks distinguish damage from the normal end of a log. A disk writes in any order, so after a crash,
// readable commits may follow unreadable bytes. If the Mark of such a commit says that a commit after these bytes was
// synced, the bytes were synced too, and their commits are lost.
type Mark struct {
	Number edm.Ticks // number of the commit; 0 if the log record has no commit
	Synced edm.Ticks
}

// MarkLength is the length in bytes of a stored [Mark].
const MarkLength = 2 + 8 + 8

// Append appends the stored form of the Mark to dst.
func (m Mark) Append(dst []byte) []byte {
	dst = append(dst, "ET"...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Number))
	return binary.BigEndian.AppendUint64(dst, uint64(m.Synced))
}

// MarkOf returns the [Mark] in a record of the log. ok is false if the record has no Mark.
func MarkOf(record []byte) (m Mark, ok bool) {
	if len(record) < batchrepr.HeaderLen {
		return Mark{}, false
	}
	r := batchrepr.Read(record)
	for {
		kind, data, _, more, err := r.Next()
		if err != nil || !more {
			return Mark{}, false
		}
		if kind == pebble.InternalKeyKindLogData && len(data) == MarkLength && bytes.HasPrefix(data, []byte("ET")) {
			return Mark{
				Number: edm.Ticks(binary.BigEndian.Uint64(data[2:])),
				Synced: edm.Ticks(binary.BigEndian.Uint64(data[10:])),
			}, true
		}
	}
}

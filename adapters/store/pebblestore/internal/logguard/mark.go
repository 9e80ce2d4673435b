package logguard

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"edgetable/core/edm"
)

// Mark is written to the log with each commit:
//
//	"ET" · number of the commit (8) · number of the last commit known to be synced (8)
//
// It lets a later start distinguish damage from the end of a log. After a crash, a log may have readable commits
// after unreadable ones, because a disk writes in any order; none of these were confirmed. But suppose the mark of a
// readable commit shows that a commit after the unreadable place was synced. Then the unreadable place had also been
// synced, and its commits were confirmed.
type Mark struct {
	Number edm.Ticks // 0 if it belongs to no commit
	Synced edm.Ticks
}

// MarkLength is the length of a mark.
const MarkLength = 2 + 8 + 8

// Append appends the mark to dst.
func (m Mark) Append(dst []byte) []byte {
	dst = append(dst, "ET"...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Number))
	return binary.BigEndian.AppendUint64(dst, uint64(m.Synced))
}

// MarkOf returns the mark in a record of the log. ok is false if there is none.
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

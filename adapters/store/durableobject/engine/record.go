package engine

import (
	"bytes"
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// record is a record of the catalog as its row holds it.
type record struct {
	table.Record
	home     message.Home // of a table: where its buckets are
	floor    edm.Ticks    // of a table: its Timestamps are above
	deleting bool         // the table is being deleted
	by       uint64       // by the write with this id
	split    bool         // a bucket of the table has ranges
}

func (r *record) isTable() bool { return r.Key.Table != "" }

// exists reports whether the record is one, not the zero value.
func (r *record) exists() bool { return r.Revision != "" }

const (
	formLive     = 1
	formDeleting = 2
)

var errRecord = errors.New("a record is damaged or of a later version")

func (r *record) append(dst []byte) []byte {
	form := byte(formLive)
	if r.deleting {
		form = formDeleting
	}
	dst = append(dst, form)
	dst = binary.BigEndian.AppendUint64(dst, r.by)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.floor))
	dst = message.AppendHome(dst, r.home)
	dst = message.AppendText(dst, r.Key.String())
	dst = message.AppendText(dst, string(r.Revision))
	dst = append(dst, r.Incarnation[:]...)
	dst = append(dst, 0, 0) // earlier code refuses a record with others
	if r.split {
		dst[len(dst)-1] = 1
	}
	return message.AppendBytes(dst, r.Value)
}

// parseRecord shares the memory of v.
func parseRecord(v []byte) (rec record, ok bool) {
	r := message.Read(v)
	form := r.Byte()
	rec.deleting = form == formDeleting
	rec.by = r.Uint64()
	rec.floor = r.Ticks()
	rec.home = r.Home()
	key, known := table.ParseRecordKey(r.Text())
	rec.Key = key
	rec.Revision = table.Revision(r.Text())
	rec.Incarnation = r.Incarnation()
	var ranges [2]byte
	r.Fixed(ranges[:])
	rec.split = ranges[1] == 1
	rec.Value = r.Bytes()
	return rec, r.Done() && known && ranges[0] == 0 && ranges[1] <= 1 && (form == formLive || form == formDeleting)
}

// readRecord reads a record into memory of its own, also one of a table that is being
// deleted. It is zero if there is none.
func readRecord(rows Rows, key string) (record, error) {
	v, ok := rows.Get(rowOf(spaceRecords, key))
	if !ok {
		return record{}, nil
	}
	rec, ok := parseRecord(bytes.Clone(v))
	if !ok || rec.Key.String() != key {
		return record{}, errRecord
	}
	return rec, nil
}

// put writes the record and returns the size of its row.
func (r *record) put(rows Rows) int {
	k, v := rowOf(spaceRecords, r.Key.String()), r.append(nil)
	rows.Put(k, v)
	return len(k) + len(v)
}

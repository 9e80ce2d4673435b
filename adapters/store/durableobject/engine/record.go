package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
)

var errRecord = errors.New("a record is damaged or of a later version")

// readRecord reads a record into memory of its own, also one of a table that is being
// deleted. It is zero if there is none.
func readRecord(rows storage.Rows, key string) (record.Record, error) {
	v, ok := rows.Get(storage.RowOf(storage.SpaceRecords, key))
	if !ok {
		return record.Record{}, nil
	}
	rec, ok := record.Parse(bytes.Clone(v))
	if !ok || rec.Key.String() != key {
		return record.Record{}, errRecord
	}
	return rec, nil
}

// putRecord writes the record and returns the size of its row.
func putRecord(rows storage.Rows, r *record.Record) int {
	k, v := storage.RowOf(storage.SpaceRecords, r.Key.String()), r.Append(nil)
	rows.Put(k, v)
	return len(k) + len(v)
}

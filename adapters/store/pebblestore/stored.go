package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/table"
)

// read returns a copy of the entity with this full key, or table.ErrNoEntity.
func read(from pebble.Reader, fullKey []byte) (table.Row, error) {
	v, closer, err := from.Get(fullKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return table.Row{}, table.ErrNoEntity
	}
	if err != nil {
		return table.Row{}, err
	}
	k := fullKey[layout.PrefixLength:]
	own := make([]byte, len(k)+len(v))
	copy(own, k)
	copy(own[len(k):], v)
	if err := closer.Close(); err != nil {
		return table.Row{}, err
	}
	return table.ParseRow(own[:len(k):len(k)], own[len(k):])
}

// getRecord returns the record with this key, or table.ErrNoRecord.
func getRecord(from pebble.Reader, key table.RecordKey) (table.Record, error) {
	text := key.String()
	v, err := layout.Get(from, layout.RecordKey(text))
	if err != nil {
		return table.Record{}, err
	}
	if v == nil {
		return table.Record{}, table.ErrNoRecord
	}
	return table.ParseRecord(text, v)
}

// forEachRecord passes each record to a function, in the order of the keys, until the function fails or a record cannot
// be read.
func forEachRecord(from pebble.Reader, do func(r *table.Record) error) error {
	return layout.ForEach(from, []byte{layout.Records}, func(k, v []byte) error {
		r, err := table.ParseRecord(string(k[1:]), v)
		if err != nil {
			return err
		}
		return do(&r)
	})
}

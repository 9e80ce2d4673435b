package record

import (
	"bytes"
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
)

// ErrDamaged means that a row of a catalog cannot be read.
var ErrDamaged = errors.New("a record is damaged or was written by a later version")

// Load reads a record, even if its table is being deleted. The result is the zero value if there is no record. It
// shares no memory with rows.
func Load(rows storage.Rows, key string) (Record, error) {
	v, ok := rows.Get(storage.RowOf(storage.SpaceRecords, key))
	if !ok {
		return Record{}, nil
	}
	rec, ok := Parse(bytes.Clone(v))
	if !ok || rec.Key.String() != key {
		return Record{}, ErrDamaged
	}
	return rec, nil
}

// Put writes the record and returns the size of its row.
func (r *Record) Put(rows storage.Rows) int {
	k, v := storage.RowOf(storage.SpaceRecords, r.Key.String()), r.Append(nil)
	rows.Put(k, v)
	return len(k) + len(v)
}

// RowOfRanges returns the key of the row with the ranges of a bucket.
func RowOfRanges(key string, bucket uint16) []byte {
	return binary.BigEndian.AppendUint16(append(storage.RowOf(storage.SpaceRanges, key), 0), bucket)
}

// Named reads the ranges of a bucket. The result shares no memory with rows.
func Named(rows storage.Rows, rec *Record, bucket uint16) (n message.Named, err error) {
	return NamedIn(nil, rows, rec, bucket)
}

// NamedIn reads the ranges of a bucket into the given memory if this is large enough. Ranges with long keys need up to
// a megabyte.
func NamedIn(memory []byte, rows storage.Rows, rec *Record, bucket uint16) (n message.Named, err error) {
	if !rec.Split {
		return n, nil
	}
	v, ok := rows.Get(RowOfRanges(rec.Key.String(), bucket))
	if !ok {
		return n, nil
	}
	r := message.Read(append(memory[:0], v...))
	if n = r.Named(); !r.Done() {
		return n, ErrDamaged
	}
	return n, nil
}

// Objects returns all objects that may have rows of a table. The result pending is the number of those whose ranges do
// not serve yet.
func Objects(rows storage.Rows, rec *Record) (list []message.Object, pending int) {
	for n := range rec.Layout.Buckets {
		list = append(list, message.Object{Bucket: n})
	}
	if !rec.Split {
		return list, 0
	}
	for n := range rec.Layout.Buckets {
		v, ok := rows.Get(RowOfRanges(rec.Key.String(), n))
		if !ok {
			continue
		}
		r := message.Read(v)
		all := r.Named()
		if !r.Done() {
			panic(ErrDamaged.Error()) // a drop must reach all objects, so an incomplete list is not acceptable
		}
		for _, r := range all.Ranges {
			if r.ID != 0 {
				list = append(list, message.Object{Bucket: n, Range: r.ID})
			}
		}
		for _, b := range all.Begun {
			list = append(list, message.Object{Bucket: n, Range: b.ID})
		}
		pending += len(all.Begun)
	}
	return list, pending
}

package message

import (
	"bytes"

	"edgetable/core/table"
)

// declares is before the key of a record whose table declares something: earlier code finds no key
// there.
const declares = "\x01"

// Declare appends the message OpDeclare.
func Declare(dst []byte, p *Destination) []byte { return beginAt(dst, OpDeclare, p) }

// AppendTraits appends what a table declares, in the form of core; nothing if it declares nothing.
func AppendTraits(dst []byte, t *table.Traits) []byte {
	if t == nil {
		return AppendBytes(dst, nil)
	}
	return AppendBytes(dst, table.AppendRecord(nil, &table.Record{Traits: t}, 0))
}

// Traits reads what a table declares, into memory of its own.
func (r *Reader) Traits() *table.Traits {
	v := r.Bytes()
	if v == nil {
		return nil
	}
	rec, err := table.ParseRecord(table.RecordKey{}.String(), v)
	r.bad = r.bad || err != nil || rec.Traits == nil
	return rec.Traits
}

// SameTraits reports whether both declare the same.
func SameTraits(t, u *table.Traits) bool {
	return bytes.Equal(AppendTraits(nil, t), AppendTraits(nil, u))
}

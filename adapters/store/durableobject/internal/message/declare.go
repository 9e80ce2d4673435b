package message

import (
	"bytes"

	"edgetable/core/table"
)

// declares precedes the key of a record whose table declares something, so that earlier code cannot parse the
// key.
const declares = "\x01"

// Declare appends the message OpDeclare.
func Declare(dst []byte, p *Destination) []byte { return beginAt(dst, OpDeclare, p) }

// formFeeds precedes traits with a feed. Code without feeds does not understand it and therefore writes
// nothing to such a table. No form of core begins with this byte, because those begin with a time.
const formFeeds = 0xFF

// AppendTraits appends what a table declares, in core's form; an empty field if it declares nothing.
func AppendTraits(dst []byte, t *table.Traits) []byte {
	if t == nil {
		return AppendBytes(dst, nil)
	}
	var form []byte
	if t.Feeds() {
		form = []byte{formFeeds}
	}
	return AppendBytes(dst, table.AppendRecord(form, &table.Record{Traits: t}, 0))
}

// Traits reads what a table declares, into memory of its own.
func (r *Reader) Traits() *table.Traits {
	v := r.Bytes()
	if v == nil {
		return nil
	}
	feeds := v[0] == formFeeds
	if feeds {
		v = v[1:]
	}
	rec, err := table.ParseRecord(table.RecordKey{}.String(), v)
	r.bad = r.bad || err != nil || rec.Traits == nil || rec.Traits.Feeds() != feeds
	return rec.Traits
}

// SameTraits reports whether both declare the same.
func SameTraits(t, u *table.Traits) bool {
	return bytes.Equal(AppendTraits(nil, t), AppendTraits(nil, u))
}

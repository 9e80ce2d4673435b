package message

import (
	"bytes"

	"edgetable/core/table"
)

// The key of a record whose table declares options begins with this prefix, so that an earlier version of the code
// cannot parse the key.
const declares = "\x01"

// Declare appends the message OpDeclare.
func Declare(dst []byte, p *Destination) []byte { return beginAt(dst, OpDeclare, p) }

// formFeeds is the first byte of encoded options that include a feed. Earlier versions of the code do not support feeds
// and fail to parse this byte. Options without a feed begin with a time, never with this byte.
const formFeeds = 0xFF

// AppendTraits appends the declared options of a table in the encoding of package table. If there are none, it appends
// an empty field.
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

// Traits reads the declared options of a table. The result shares no memory with the message.
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

// SameTraits reports whether t and u are the same options.
func SameTraits(t, u *table.Traits) bool {
	return bytes.Equal(AppendTraits(nil, t), AppendTraits(nil, u))
}

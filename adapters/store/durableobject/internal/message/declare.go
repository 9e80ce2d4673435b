package message

import (
	"bytes"

	"edgetable/core/table"
)

// If a table declares options, the key of its record begins with this prefix, so that earlier code cannot parse
// the key.
const declares = "\x01"

// Declare appends the message OpDeclare.
func Declare(dst []byte, p *Destination) []byte { return beginAt(dst, OpDeclare, p) }

// formFeeds is the first byte of traits with a feed. Code that does not know feeds cannot parse such traits and
// therefore writes nothing to the table. Other traits begin with a time, whose first byte is never formFeeds.
const formFeeds = 0xFF

// AppendTraits appends the declared options of a table in the encoding of package table; an empty field if
// there are none.
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

// Traits reads the declared options of a table, into memory of its own.
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

// Package record encodes a record of the catalog as a row.
package record

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Record is a [table.Record] with fields that only the catalog knows.
type Record struct {
	table.Record
	Layout    message.Layout
	Floor     edm.Ticks // lower limit of Timestamps: every Timestamp of the table is higher
	Deleting  bool
	By        uint64 // the id of the write that deletes the table or changes its declared options
	Split     bool   // whether a bucket of the table has split
	Restoring bool
	Telling   bool // whether the table's objects must still read the new declared options
}

// IsTable reports whether the record belongs to a table.
func (r *Record) IsTable() bool { return r.Key.Table != "" }

// Exists reports whether the record exists. It is false for the zero value.
func (r *Record) Exists() bool { return r.Revision != "" }

const (
	formLive     = 1
	formDeleting = 2
)

// Append appends the encoded record, as in a row.
func (r *Record) Append(dst []byte) []byte {
	form := byte(formLive)
	if r.Deleting {
		form = formDeleting
	}
	dst = append(dst, form)
	dst = binary.BigEndian.AppendUint64(dst, r.By)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Floor))
	dst = message.AppendLayout(dst, r.Layout)
	dst = message.AppendText(dst, r.Key.String())
	dst = message.AppendText(dst, string(r.Revision))
	dst = append(dst, r.Incarnation[:]...)
	dst = append(dst, 0, 0) // an earlier version of the code refuses a record with other values in these bytes
	if r.Split {
		dst[len(dst)-1] = 1
	}
	if r.Declares() {
		dst[len(dst)-1] |= flagDeclares
	}
	if r.Restoring {
		dst[len(dst)-2] = 1
	}
	if dst = message.AppendBytes(dst, r.Value); !r.Declares() {
		return dst
	}
	dst = message.AppendTraits(dst, r.Traits)
	if r.Telling {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Declares reports whether the record has declared options, or the table's objects must still read new ones. Versions
// of the code from before declared options cannot parse such a record.
func (r *Record) Declares() bool { return r.Traits != nil || r.Telling }

const flagDeclares = 2

// Parse parses a record. The result shares the memory of v.
func Parse(v []byte) (rec Record, ok bool) {
	r := message.Read(v)
	form := r.Byte()
	rec.Deleting = form == formDeleting
	rec.By = r.Uint64()
	rec.Floor = r.Ticks()
	rec.Layout = r.Layout()
	key, known := table.ParseRecordKey(r.Text())
	rec.Key = key
	rec.Revision = table.Revision(r.Text())
	rec.Incarnation = r.Incarnation()
	var flags [2]byte
	r.Fixed(flags[:])
	rec.Restoring, rec.Split = flags[0] == 1, flags[1]&1 != 0
	if rec.Value = r.Bytes(); flags[1]&flagDeclares != 0 {
		rec.Traits, rec.Telling = r.Traits(), r.Bool()
	}
	return rec, r.Done() && known && flags[0] <= 1 && flags[1] <= 1|flagDeclares && (form == formLive || form == formDeleting)
}

// Package record is a record of a catalog as its row holds it.
package record

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Record is a record with what only the catalog knows of it.
type Record struct {
	table.Record
	Layout    message.Layout // of a table: where its buckets are
	Floor     edm.Ticks      // of a table: its Timestamps are above
	Deleting  bool           // the table is being deleted
	By        uint64         // by the write with this id
	Split     bool           // a bucket of the table has ranges
	Restoring bool           // the table is being restored
}

// IsTable reports whether it is that of a table.
func (r *Record) IsTable() bool { return r.Key.Table != "" }

// Exists reports whether the record is one, not the zero value.
func (r *Record) Exists() bool { return r.Revision != "" }

const (
	formLive     = 1
	formDeleting = 2
)

// Append appends the record, for a row.
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
	dst = append(dst, 0, 0) // earlier code refuses a record with others
	if r.Split {
		dst[len(dst)-1] = 1
	}
	if r.Restoring {
		dst[len(dst)-2] = 1
	}
	return message.AppendBytes(dst, r.Value)
}

// Parse reads a record, which shares the memory of v.
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
	rec.Restoring, rec.Split = flags[0] == 1, flags[1] == 1
	rec.Value = r.Bytes()
	return rec, r.Done() && known && flags[0] <= 1 && flags[1] <= 1 && (form == formLive || form == formDeleting)
}

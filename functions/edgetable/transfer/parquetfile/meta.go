package parquetfile

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// unreportedTypes finds columns whose type the parquet library does not report: 16-bit
// floating-point numbers, and durations with their units. For such a column, the library reports
// only the type of the stored values.
func unreportedTypes(file *parquet.File) (halves map[string]bool, spans map[string]unit) {
	halves, spans = map[string]bool{}, map[string]unit{}
	if text, ok := file.Lookup("ARROW:schema"); ok {
		arrowDurations(text, spans)
	}
	elements := file.Metadata().Schema
	for i := 1; i < len(elements); {
		e := &elements[i]
		if _, ok := e.LogicalType.Value.(*format.Float16Type); ok {
			halves[e.Name] = true
		}
		if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval {
			spans[e.Name] = interval
		}
		for more := 1; more > 0 && i < len(elements); i++ { // skip the nested columns of this column
			more += int(elements[i].NumChildren.V) - 1
		}
	}
	return halves, spans
}

// unit is the unit of a duration in nanoseconds.
type unit int64

const (
	none     unit = 0
	interval unit = -1 // months, days and milliseconds; together no fixed length of time, because months differ
)

// arrowDurations finds the columns that are durations in the Arrow schema, and stores their units
// in a map. Programs such as pyarrow store this schema in the file. In parquet itself, these
// columns are plain numbers. A schema that cannot be read is ignored.
func arrowDurations(text string, to map[string]unit) {
	defer func() { _ = recover() }() // in a damaged schema, an offset may point outside the text
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return
	}
	if binary.LittleEndian.Uint32(b) == 0xFFFFFFFF { // some writers put this marker and a length before the message
		b = b[8:]
	}
	f := flatbuffer(b)
	schema := f.table(f.indirect(0), 2)
	fields := f.table(schema, 1)
	for i := range int(f.uint32(fields)) {
		field := f.indirect(fields + 4 + 4*i)
		const duration = 18
		if at := f.field(field, 2); at > 0 && f[at] == duration {
			name := f.table(field, 0)
			nanos := [...]unit{1e9, 1e6, 1e3, 1}
			in := nanos[1] // the default unit in the Arrow format: milliseconds
			typ := f.table(field, 3)
			if at := f.field(typ, 0); at > 0 {
				in = nanos[binary.LittleEndian.Uint16(f[at:])]
			}
			to[string(f[name+4:name+4+int(f.uint32(name))])] = in
		}
	}
}

// flatbuffer is a message in the format FlatBuffers. It contains tables (records with optional
// fields), whose fields are found through offsets.
type flatbuffer []byte

func (f flatbuffer) uint32(at int) uint32 { return binary.LittleEndian.Uint32(f[at:]) }

// indirect reads the offset at a position. It returns the position to which the offset points.
func (f flatbuffer) indirect(at int) int { return at + int(f.uint32(at)) }

// field returns the position of the nth field of the record (the FlatBuffers table) at the position
// table. It returns 0 if the record lacks this field.
func (f flatbuffer) field(table, n int) int {
	fields := table - int(int32(f.uint32(table)))
	if 4+2*n >= int(binary.LittleEndian.Uint16(f[fields:])) {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(f[fields+4+2*n:]))
	if offset == 0 {
		return 0
	}
	return table + offset
}

// table returns the position of another record, to which the nth field of the record at the
// position table points.
func (f flatbuffer) table(table, n int) int { return f.indirect(f.field(table, n)) }

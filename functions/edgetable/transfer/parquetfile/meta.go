package parquetfile

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// unreportedTypes returns the columns whose logical type the parquet library does not report: 16-bit floating-point
// numbers, and durations with their units.
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
		for more := 1; more > 0 && i < len(elements); i++ { // skip the nested columns
			more += int(elements[i].NumChildren.V) - 1
		}
	}
	return halves, spans
}

// unit is the number of nanoseconds in the unit of a duration.
type unit int64

const (
	none     unit = 0
	interval unit = -1 // a duration in months, days and milliseconds; its length is not fixed, because the length of a month varies
)

// arrowDurations adds the duration columns of an Arrow schema, with their units, to a map. pyarrow and others store
// this schema in the file. An unreadable schema is ignored.
func arrowDurations(text string, to map[string]unit) {
	defer func() { _ = recover() }() // in a damaged schema, an offset may be out of range
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return
	}
	if binary.LittleEndian.Uint32(b) == 0xFFFFFFFF { // some writers prepend this marker and a length
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
			in := nanos[1] // milliseconds, the default of the Arrow format
			typ := f.table(field, 3)
			if at := f.field(typ, 0); at > 0 {
				in = nanos[binary.LittleEndian.Uint16(f[at:])]
			}
			to[string(f[name+4:name+4+int(f.uint32(name))])] = in
		}
	}
}

// flatbuffer is a message in the FlatBuffers format: tables whose fields are found through offsets.
type flatbuffer []byte

func (f flatbuffer) uint32(at int) uint32 { return binary.LittleEndian.Uint32(f[at:]) }

// indirect returns the position to which the offset at the given position points.
func (f flatbuffer) indirect(at int) int { return at + int(f.uint32(at)) }

// field returns the position of the nth field of the FlatBuffers table at the given position, or 0 if the table lacks
// the field.
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

// table returns the position of the value to which the nth field of the table at the given position points.
func (f flatbuffer) table(table, n int) int { return f.indirect(f.field(table, n)) }

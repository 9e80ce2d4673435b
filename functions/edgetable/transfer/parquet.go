package transfer

import (
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"edgetable/core/edm"
	"edgetable/core/payload"
)

// parquetTypes is the key of the file's metadata with the Edm types of columns
// that are not plain from parquet's own: an object from names to types.
const parquetTypes = "edgetable.types"

// rowGroupSize is about how much data a row group has. It is kept in memory.
const rowGroupSize = 32 << 20

// parquetWriter writes entities as rows of a parquet file: the keys, Timestamp,
// properties.
type parquetWriter struct {
	w       *parquet.Writer //lint:ignore SA1019 the generic one wants a Go type, and the columns are known at run time
	columns *parquetColumns
	row     parquet.Row
	at      map[parquetKey]int // column numbers
	size    int                // of the row group
}

var parquetCodecs = map[string]compress.Codec{"none": &parquet.Uncompressed, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd}

// newParquetWriter writes the columns that plan has decided.
func newParquetWriter(out io.Writer, c *parquetColumns, compress string) (*parquetWriter, error) {
	w := &parquetWriter{columns: c, at: map[parquetKey]int{}}
	root := &parquetFields{fields: []parquet.Field{&parquetField{parquet.String(), partitionKey}, &parquetField{parquet.String(), rowKey}}}
	types := map[string]string{}
	for i, one := range c.list {
		root.fields = append(root.fields, &parquetField{one.node, one.name})
		w.at[parquetKey{one.property, one.typ}] = i + 2
		types[one.name] = one.typ.String()
	}
	text, err := json.Marshal(types)
	if err != nil {
		return nil, err
	}
	w.row = make(parquet.Row, len(root.fields))
	w.w = parquet.NewWriter(out, parquet.NewSchema("entities", root), parquet.Compression(parquetCodecs[compress]),
		parquet.DataPageVersion(1), // which every reader knows
		parquet.CreatedBy("edgetable", "1", ""), parquet.KeyValueMetadata(parquetTypes, string(text)))
	return w, nil
}

func (w *parquetWriter) write(e *payload.Received) error {
	w.row[0] = parquet.ByteArrayValue([]byte(e.PartitionKey)).Level(0, 0, 0)
	w.row[1] = parquet.ByteArrayValue([]byte(e.RowKey)).Level(0, 0, 1)
	for i := range w.columns.list {
		w.row[i+2] = parquet.NullValue().Level(0, 0, i+2)
	}
	set := func(name string, v edm.Value) {
		i, ok := w.at[parquetKey{name, v.Type()}]
		if ok { // else it is not selected
			w.row[i] = w.columns.list[i-2].value(v).Level(0, 1, i)
		}
	}
	if e.Timestamp != 0 {
		set(timestamp, edm.DateTime(e.Timestamp))
	}
	for name, v := range e.Properties.All() {
		set(name, v)
	}
	if _, err := w.w.WriteRows([]parquet.Row{w.row}); err != nil {
		return err
	}
	if w.size += len(e.PartitionKey) + len(e.RowKey) + len(e.Properties) + len(w.row); w.size < rowGroupSize {
		return nil
	}
	w.size = 0
	return w.w.Flush()
}

// parquetFields are the columns of a file in their order; parquet.Group alone sorts
// them by name.
type parquetFields struct {
	parquet.Group // what else a group is
	fields        []parquet.Field
}

func (f *parquetFields) Fields() []parquet.Field { return f.fields }

// parquetField is a column with its name.
type parquetField struct {
	parquet.Node
	name string
}

func (f *parquetField) Name() string { return f.name }

// Value is for rows that are Go structs, which ours are not.
func (f *parquetField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetSheet makes files of parquet. Those of a table have the same columns.
type parquetSheet struct {
	parquetColumns
	planned  sync.Once
	compress string
}

func (s *parquetSheet) add(after sheet) {
	s.parquetColumns.merge(&after.(*parquetSheet).parquetColumns)
}

func (s *parquetSheet) make(list entityList, out io.Writer) error {
	s.planned.Do(s.plan)
	w, err := newParquetWriter(out, &s.parquetColumns, s.compress)
	if err != nil {
		return err
	}
	if err := list(func(e payload.Received) error { return w.write(&e) }); err != nil {
		return err
	}
	return w.w.Close()
}

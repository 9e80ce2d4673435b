package parquetfile

import (
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// typesKey is the metadata key of a JSON object that maps the column names to Edm types, which the parquet types do not
// determine.
const typesKey = "edgetable.types"

// rowGroupSize is the approximate size of a row group in bytes. One row group is in memory while a file is written.
const rowGroupSize = 32 << 20

// writer writes entities to a parquet file with the columns PartitionKey, RowKey, Timestamp and the properties.
type writer struct {
	w       *parquet.Writer //lint:ignore SA1019 the generic one wants a Go type, and the columns are known at run time
	columns *plannedColumns
	row     parquet.Row
	at      map[columnKey]int // indexes of the columns, by property and type
	size    int               // approximate size in bytes of the current row group
}

var codecs = map[string]compress.Codec{"none": &parquet.Uncompressed, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd}

func newWriter(out io.Writer, c *plannedColumns, compress string) (*writer, error) {
	w := &writer{columns: c, at: map[columnKey]int{}}
	root := &orderedFields{fields: []parquet.Field{&namedField{parquet.String(), rows.PartitionKey}, &namedField{parquet.String(), rows.RowKey}}}
	types := map[string]string{}
	for i, one := range c.list {
		root.fields = append(root.fields, &namedField{one.node, one.name})
		w.at[columnKey{one.property, one.typ}] = i + 2
		types[one.name] = one.typ.String()
	}
	text, err := json.Marshal(types)
	if err != nil {
		return nil, err
	}
	w.row = make(parquet.Row, len(root.fields))
	w.w = parquet.NewWriter(out, parquet.NewSchema("entities", root), parquet.Compression(codecs[compress]),
		parquet.DataPageVersion(1), // version 1 is supported by all parquet readers
		parquet.CreatedBy("edgetable", "1", ""), parquet.KeyValueMetadata(typesKey, string(text)))
	return w, nil
}

func (w *writer) write(e *payload.Received) error {
	w.row[0] = parquet.ByteArrayValue([]byte(e.PartitionKey)).Level(0, 0, 0)
	w.row[1] = parquet.ByteArrayValue([]byte(e.RowKey)).Level(0, 0, 1)
	for i := range w.columns.list {
		w.row[i+2] = parquet.NullValue().Level(0, 0, i+2)
	}
	set := func(name string, v edm.Value) {
		i, ok := w.at[columnKey{name, v.Type()}]
		if ok { // if there is no column, the property is not selected
			w.row[i] = w.columns.list[i-2].value(v).Level(0, 1, i)
		}
	}
	if e.Timestamp != 0 {
		set(rows.Timestamp, edm.DateTime(e.Timestamp))
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

// orderedFields preserves the order of the columns. parquet.Group would sort them by name.
type orderedFields struct {
	parquet.Group // provides the methods of parquet.Node except Fields
	fields        []parquet.Field
}

func (f *orderedFields) Fields() []parquet.Field { return f.fields }

type namedField struct {
	parquet.Node
	name string
}

func (f *namedField) Name() string { return f.name }

// Value is never called: the parquet library calls it only for rows that are Go structs.
func (f *namedField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// Sheet writes entities to parquet files. All files of a table have the same columns.
type Sheet struct {
	plannedColumns
	planned  sync.Once
	compress string
}

func NewSheet(compress string) *Sheet { return &Sheet{compress: compress} }

func (s *Sheet) Add(after rows.Sheet) {
	s.plannedColumns.merge(&after.(*Sheet).plannedColumns)
}

func (s *Sheet) Make(list rows.List, out io.Writer) error {
	s.planned.Do(s.plan)
	w, err := newWriter(out, &s.plannedColumns, s.compress)
	if err != nil {
		return err
	}
	if err := list(func(e payload.Received) error { return w.write(&e) }); err != nil {
		return err
	}
	return w.w.Close()
}

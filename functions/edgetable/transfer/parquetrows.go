package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// parquetRows reads the rows of a parquet file, ours or of others.
type parquetRows struct {
	m       *mapper
	groups  []parquet.RowGroup
	rows    parquet.Rows // of a group; nil before and after it
	ended   bool         // rows has no more than those of ready
	buf     []parquet.Row
	ready   []parquet.Row // of buf
	columns []parquetCell // by number
	index   map[string]int
}

// parquetCell is a column with its value in the row.
type parquetCell struct {
	name     string
	property string // "" for none
	read     parquetRead
	value    parquet.Value
}

// newParquetRows reads a file.
func newParquetRows(f io.ReaderAt, size int64, m *mapper) (r *parquetRows, err error) {
	defer recovered(&err)
	file, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("it is no whole parquet file: %w", err)
	}
	r = &parquetRows{m: m, groups: file.RowGroups(), buf: make([]parquet.Row, 64), index: map[string]int{}}
	types := map[string]string{}
	if text, ok := file.Lookup(parquetTypes); ok {
		if err := json.Unmarshal([]byte(text), &types); err != nil {
			return nil, fmt.Errorf("its metadata %s: %w", parquetTypes, err)
		}
	}
	var names []string
	for _, field := range file.Schema().Fields() {
		names = append(names, field.Name())
	}
	if err := m.check(names); err != nil {
		return nil, err
	}
	needs := append(m.needs(), timestamp)
	halves, spans := special(file)
	for _, field := range file.Schema().Fields() {
		name := field.Name()
		r.index[name] = len(r.columns)
		one := parquetCell{name: name}
		property, suffix, _ := strings.Cut(name, "@")
		want, _ := ParseType(types[name])
		if t, ok := ParseType(suffix); ok { // of a property with several types
			want = t
		} else {
			property = name
		}
		if t, ok := m.Types[name]; ok {
			want = t
		}
		if m.property(property) {
			one.property = property
			if err := table.CheckPropertyName(property); err != nil {
				return nil, fmt.Errorf("the column %q cannot be a property: %w; --select chooses columns", name, err)
			}
		}
		if !field.Leaf() || field.Repeated() {
			if one.property != "" {
				return nil, fmt.Errorf("the column %q is a list or a group, which a table cannot hold; --select chooses columns", name)
			}
			for range leaves(field) {
				r.columns = append(r.columns, parquetCell{name: name})
			}
			continue
		}
		one.read, err = readColumn(field, halves[name], spans[name], want)
		if err != nil && (one.property != "" || slices.Contains(needs, name)) {
			return nil, fmt.Errorf("the column %q %w", name, err)
		}
		r.columns = append(r.columns, one)
	}
	return r, nil
}

// leaves counts the columns of a field.
func leaves(n parquet.Node) (count int) {
	if n.Leaf() {
		return 1
	}
	for _, field := range n.Fields() {
		count += leaves(field)
	}
	return count
}

// recovered makes an error of a panic: the library panics on some damaged files.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it is no whole parquet file: %v", p)
	}
}

func (r *parquetRows) next() (one row, err error) {
	one.line = int(r.m.rows) + 1
	defer recovered(&err)
	for len(r.ready) == 0 {
		if r.ended { // only now: ready shares its memory
			if err := r.close(); err != nil {
				return one, err
			}
		}
		if r.rows == nil {
			if len(r.groups) == 0 {
				return one, io.EOF
			}
			r.rows, r.groups = r.groups[0].Rows(), r.groups[1:]
		}
		n, err := r.rows.ReadRows(r.buf)
		r.ready = r.buf[:n]
		if r.ended = err == io.EOF || n == 0; err != nil && err != io.EOF {
			return one, fmt.Errorf("it is damaged: %w", err)
		}
	}
	values := r.ready[0]
	r.ready = r.ready[1:]
	r.m.rows++
	for i := range r.columns {
		r.columns[i].value = parquet.Value{}
	}
	for _, v := range values {
		r.columns[v.Column()].value = v
	}
	if err := r.fill(&one); err != nil {
		return row{}, &badRow{one.line, rejectedText(r.texts()), r.m.reason(err, r)}
	}
	return one, nil
}

// fill sets the keys and properties of the row.
func (r *parquetRows) fill(one *row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if c.property == "" || c.value.IsNull() {
			continue
		}
		v, err := c.read(c.value)
		if err != nil {
			return fmt.Errorf("%s is %w", c.name, err)
		}
		if c.property != c.name {
			if _, twice := one.properties.Lookup(c.property); twice {
				return fmt.Errorf("%s has a value in two columns", c.property)
			}
		}
		if err := one.add(c.property, c.name, v); err != nil {
			return err
		}
	}
	return r.m.complete(one, r)
}

// cell implements cells.
func (r *parquetRows) cell(name string) (edm.Value, error) {
	i, ok := r.index[name]
	if !ok || r.columns[i].read == nil || r.columns[i].value.IsNull() {
		return edm.Value{}, nil
	}
	v, err := r.columns[i].read(r.columns[i].value)
	if err != nil {
		err = fmt.Errorf("%s is %w", name, err)
	}
	return v, err
}

// texts returns the values for a file of rejects.
func (r *parquetRows) texts() (list []rejectedCell) {
	for _, c := range r.columns {
		if c.read == nil || c.value.IsNull() {
			continue
		}
		one := rejectedCell{name: c.name, text: c.value.String()}
		if v, err := c.read(c.value); err == nil {
			one.typ, one.text = v.Type().String(), v.String()
		}
		if c.property != "" {
			one.name = c.property
		}
		list = append(list, one)
	}
	return list
}

func (r *parquetRows) close() error {
	rows := r.rows
	if r.rows, r.ended = nil, false; rows == nil {
		return nil
	}
	return rows.Close()
}

// spoolParquet copies a stream to a temporary file: parquet has its index at the
// end.
func spoolParquet(in io.Reader) (f *os.File, size int64, err error) {
	if f, err = os.CreateTemp("", "edgetable-*.parquet"); err != nil {
		return nil, 0, err
	}
	if size, err = io.Copy(f, in); err != nil {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, size, err
}

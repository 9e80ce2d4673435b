package parquetfile

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
	"edgetable/functions/edgetable/transfer/rows"
)

// Rows reads the rows of a parquet file of edgetable or another program.
type Rows struct {
	m       *rows.Mapper
	groups  []parquet.RowGroup
	rows    parquet.Rows // rows of the current row group, or nil
	ended   bool         // the row group has been read, but ready may still contain rows of it
	buf     []parquet.Row
	ready   []parquet.Row    // rows in buf that Next has not returned
	columns []columnReader   // readers of the columns, by column index
	index   map[string][]int // indexes of columns by column name; the indexes of all columns of a property are also under the property's name
}

type columnReader struct {
	name     string
	property string // property that receives the values; "" if there is none
	read     readValue
	value    parquet.Value
}

func NewRows(f io.ReaderAt, size int64, m *rows.Mapper) (r *Rows, err error) {
	defer recoverError(&err)
	file, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("it is not a complete parquet file: %w", err)
	}
	r = &Rows{m: m, groups: file.RowGroups(), buf: make([]parquet.Row, 64), index: map[string][]int{}}
	types := map[string]string{}
	if text, ok := file.Lookup(typesKey); ok {
		if err := json.Unmarshal([]byte(text), &types); err != nil {
			return nil, fmt.Errorf("its metadata %s: %w", typesKey, err)
		}
	}
	var names, given []string
	for _, field := range file.Schema().Fields() {
		given = append(given, field.Name())
		names = append(names, newColumnName(m, field.Name()))
	}
	if err := m.CheckRenamed(given); err != nil {
		return nil, err
	}
	if err := m.Check(names); err != nil {
		return nil, err
	}
	needs := append(m.Needs(), rows.Timestamp)
	halves, spans := unreportedTypes(file)
	for i, field := range file.Schema().Fields() {
		own, name := given[i], names[i]
		r.index[name] = append(r.index[name], len(r.columns))
		one := columnReader{name: name}
		property, suffix, _ := strings.Cut(name, "@")
		want, _ := rows.ParseType(types[own])
		if t, ok := rows.ParseType(suffix); ok { // all values in a column property@type have this type
			want = t
			r.index[property] = append(r.index[property], len(r.columns))
		} else {
			property = name
		}
		if t, ok := m.Types[name]; ok {
			want = t
		}
		if m.Property(property) {
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
				r.columns = append(r.columns, columnReader{name: name})
			}
			continue
		}
		one.read, err = readColumn(field, halves[own], spans[own], want)
		if err != nil && (one.property != "" || slices.Contains(needs, name) || slices.Contains(needs, property)) {
			return nil, fmt.Errorf("the column %q %w", name, err)
		}
		r.columns = append(r.columns, one)
	}
	return r, nil
}

func leaves(n parquet.Node) (count int) {
	if n.Leaf() {
		return 1
	}
	for _, field := range n.Fields() {
		count += leaves(field)
	}
	return count
}

// recoverError converts a panic to an error. The parquet library panics on some damaged files.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it is not a complete parquet file: %v", p)
	}
}

func (r *Rows) Next() (one rows.Row, err error) {
	one.Line = int(r.m.Rows) + 1
	defer recoverError(&err)
	for len(r.ready) == 0 {
		// Close the row group only after all rows in r.ready have been returned, because they refer to its memory.
		if r.ended {
			if err := r.Close(); err != nil {
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
	r.m.Rows++
	for i := range r.columns {
		r.columns[i].value = parquet.Value{}
	}
	for _, v := range values {
		r.columns[v.Column()].value = v
	}
	if err := r.fill(&one); err != nil {
		return rows.Row{}, &rows.Bad{Line: one.Line, Text: rows.RejectedText(r.texts()), Reason: r.m.Reason(err, r)}
	}
	return one, nil
}

func (r *Rows) fill(one *rows.Row) error {
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
			if _, twice := one.Properties.Lookup(c.property); twice {
				return fmt.Errorf("%s has a value in two columns", c.property)
			}
		}
		if err := one.Add(c.property, c.name, v); err != nil {
			return err
		}
	}
	return r.m.Complete(one, r)
}

// Cell implements [rows.Cells].
func (r *Rows) Cell(name string) (edm.Value, error) {
	for _, i := range r.index[name] {
		if c := &r.columns[i]; c.read != nil && !c.value.IsNull() {
			v, err := c.read(c.value)
			if err != nil {
				err = fmt.Errorf("%s is %w", name, err)
			}
			return v, err
		}
	}
	return edm.Value{}, nil
}

// newColumnName applies --rename to a column name. A column property@type is renamed along with its property.
func newColumnName(m *rows.Mapper, name string) string {
	property, suffix, _ := strings.Cut(name, "@")
	if _, ok := rows.ParseType(suffix); ok {
		return m.Renamed(property) + "@" + suffix
	}
	return m.Renamed(name)
}

// texts returns the current row as text, for the file of rejects.
func (r *Rows) texts() (list []rows.RejectedCell) {
	for _, c := range r.columns {
		if c.read == nil || c.value.IsNull() {
			continue
		}
		one := rows.RejectedCell{Name: c.name, Text: c.value.String()}
		if v, err := c.read(c.value); err == nil {
			one.Type, one.Text = v.Type().String(), v.String()
		}
		if c.property != "" {
			one.Name = c.property
		}
		list = append(list, one)
	}
	return list
}

func (r *Rows) Close() error {
	rows := r.rows
	if r.rows, r.ended = nil, false; rows == nil {
		return nil
	}
	return rows.Close()
}

// Spool copies a stream to a temporary file, because a parquet file is read from the index at its end.
func Spool(in io.Reader) (f *os.File, size int64, err error) {
	if f, err = os.CreateTemp("", "edgetable-*.parquet"); err != nil {
		return nil, 0, err
	}
	if size, err = io.Copy(f, in); err != nil {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, size, err
}

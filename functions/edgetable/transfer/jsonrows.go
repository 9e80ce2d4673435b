package transfer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// jsonRows reads JSON: an entity a line, or a document of entities.
type jsonRows struct {
	texts interface {
		next() (text []byte, line int, err error)
	}
	m      *mapper
	reader payload.Reader
	entity payload.Entity
	line   []byte
}

func newJSONRows(text io.Reader, file string, m *mapper) *jsonRows {
	in := bufio.NewReaderSize(text, 256<<10)
	if isDocument(in, file) {
		return &jsonRows{texts: newObjectReader(in), m: m}
	}
	return &jsonRows{texts: newLineReader(in), m: m}
}

func (r *jsonRows) next() (row, error) {
	text, n, err := r.texts.next()
	if err != nil {
		return row{line: n}, err
	}
	return r.row(text, n)
}

// row makes a row of the text of an entity.
func (r *jsonRows) row(text []byte, n int) (row, error) {
	r.m.rows++
	r.line = text
	one := row{line: n}
	if err := r.fill(&one); err != nil {
		return row{}, &badRow{n, string(text), r.m.reason(err, r)}
	}
	return one, nil
}

// fill sets the keys and properties of the row.
func (r *jsonRows) fill(one *row) (err error) {
	if r.m.decoder != nil {
		if err := r.m.readable(string(r.line)); err != nil {
			return fmt.Errorf("the row is %w", err)
		}
	}
	if r.entity, err = payload.ReadEntity(r.line); err != nil {
		if lines, ok := r.texts.(*lineReader); ok && lines.torn && !json.Valid(r.line) {
			err = fmt.Errorf("the file ends in this row: %w", err)
		}
		return err
	}
	one.properties = r.properties()
	return r.m.complete(one, r)
}

// properties returns those of the entity that the mapping leaves.
func (r *jsonRows) properties() edm.Properties {
	p := r.entity.Properties
	if r.m.Select == nil && r.m.pk == nil && r.m.rk == nil {
		return p
	}
	var left edm.Properties
	for name, v := range p.All() {
		if r.m.property(name) {
			left = edm.AppendProperty(left, name, v)
		}
	}
	return left
}

// cell implements cells.
func (r *jsonRows) cell(name string) (edm.Value, error) {
	switch {
	case name == partitionKey && r.entity.HasPartitionKey:
		return edm.String(r.entity.PartitionKey), nil
	case name == rowKey && r.entity.HasRowKey:
		return edm.String(r.entity.RowKey), nil
	case name == timestamp:
		e, err := r.reader.Entity(r.line)
		if err != nil || e.Timestamp == 0 {
			return edm.Value{}, err
		}
		v := edm.DateTime(e.Timestamp)
		return v, table.CheckValue(name, v)
	}
	v, _ := r.entity.Properties.Lookup(name)
	return v, nil
}

package rows

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Texts iterates over the JSON of entities. The second result of Next is the number of the entity's first line.
type Texts interface {
	Next() (text []byte, line int, err error)
}

// jsonRows reads rows from JSON, either one entity on each line or a document with many entities.
type jsonRows struct {
	conversion
	texts   Texts
	reader  payload.Reader
	entity  payload.Entity
	line    []byte
	refused bool // a row was rejected, so its names are unknown
}

// NoColumn is the error at the end of a JSON file if no row has a value for a name in a flag. It cannot be detected
// earlier, because the rows may have different names.
type NoColumn struct{ Name, Flag string }

func (e *NoColumn) Error() string {
	return fmt.Sprintf("no row has a value for %q, which %s names", e.Name, e.Flag)
}

// namesOf returns the names that must occur in a JSON file, with the flag that contains each name.
func namesOf(m *Mapper) map[string]string {
	names := map[string]string{}
	for _, name := range m.Select {
		if name != PartitionKey && name != RowKey && name != Timestamp {
			names[name] = "--select"
		}
	}
	for name := range m.Rename {
		names[name] = "--rename"
	}
	return names
}

// ends converts the error at the end of a file, usually io.EOF, to NoColumn if a name never occurred.
func (r *jsonRows) ends(err error) error {
	if err == io.EOF && len(r.unseen) > 0 && r.m.Rows > 0 && !r.refused {
		name := slices.Min(slices.Collect(maps.Keys(r.unseen)))
		return &NoColumn{name, r.unseen[name]}
	}
	return err
}

// NewTexts returns a reader of the entities in texts.
func NewTexts(texts Texts, m *Mapper) *jsonRows {
	return &jsonRows{texts: texts, conversion: conversion{m: m, unseen: namesOf(m)}}
}

func NewJSONRows(text io.Reader, file string, m *Mapper) *jsonRows {
	in := bufio.NewReaderSize(text, 256<<10)
	if IsDocument(in, file) {
		head, _ := in.Peek(1 << 10) // if Peek fails, the next read returns the error
		return &jsonRows{texts: NewObjectReader(in), conversion: conversion{m: m, unseen: namesOf(m), azure: azure.Match(head)}}
	}
	return NewTexts(NewLineReader(in), m)
}

func (r *jsonRows) Next() (Row, error) {
	text, n, err := r.texts.Next()
	if err != nil {
		return Row{Line: n}, r.ends(err)
	}
	return r.row(text, n)
}

// row converts the JSON of an entity at line n.
func (r *jsonRows) row(text []byte, n int) (Row, error) {
	r.m.Rows++
	r.line = text
	one := Row{Line: n}
	whole, err := r.convertForeign(text)
	if err != nil {
		r.refused = true
		return Row{}, &Bad{n, string(text), err.Error()}
	}
	r.line = whole
	if err := r.fill(&one); err != nil {
		r.refused = true
		return Row{}, &Bad{n, string(whole), r.m.Reason(err, r)}
	}
	return one, nil
}

func (r *jsonRows) fill(one *Row) (err error) {
	if r.m.decoder != nil {
		if err := r.m.Readable(string(r.line)); err != nil {
			return fmt.Errorf("the row is %w", err)
		}
	}
	if r.entity, err = payload.ReadFileEntity(r.line); err != nil {
		if lines, ok := r.texts.(*LineReader); ok && lines.Torn && !json.Valid(r.line) {
			err = fmt.Errorf("the file ends in this row: %w", err)
		}
		return err
	}
	for name, flag := range r.unseen {
		if _, there := r.entity.Properties.Lookup(name); there && flag == "--select" {
			delete(r.unseen, name)
		}
	}
	one.Properties = r.properties()
	return r.m.Complete(one, r)
}

// properties returns the properties of the current entity, except those that are used as keys or not selected.
func (r *jsonRows) properties() edm.Properties {
	p := r.entity.Properties
	if r.m.Select == nil && r.m.OwnKeys() {
		return p
	}
	var left edm.Properties
	for name, v := range p.All() {
		if r.m.Property(name) {
			left = edm.AppendProperty(left, name, v)
		}
	}
	return left
}

// Cell implements [Cells].
func (r *jsonRows) Cell(name string) (edm.Value, error) {
	switch {
	case name == PartitionKey && r.entity.HasPartitionKey:
		return edm.String(r.entity.PartitionKey), nil
	case name == RowKey && r.entity.HasRowKey:
		return edm.String(r.entity.RowKey), nil
	case name == Timestamp:
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

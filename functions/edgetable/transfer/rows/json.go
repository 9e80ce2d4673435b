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

// Texts returns entities as JSON, one after another. line is the number of the first line of the
// entity.
type Texts interface {
	Next() (text []byte, line int, err error)
}

// jsonRows reads rows from JSON: one entity on each line, or one document with many entities.
type jsonRows struct {
	conversion
	texts   Texts
	reader  payload.Reader
	entity  payload.Entity
	line    []byte
	refused bool // a row was refused, so it is not known which names it has
}

// NoColumn is the error that no row of a JSON file has a value of a name that a flag contains. The rows of JSON may have
// different names, so the end of the file shows this.
type NoColumn struct{ Name, Flag string }

func (e *NoColumn) Error() string {
	return fmt.Sprintf("no row has a value for %q, which %s names", e.Name, e.Flag)
}

// namesOf returns the names that a JSON file must have because of the flags, and the flag of each.
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

// ends returns the error at the end of a file: usually io.EOF.
func (r *jsonRows) ends(err error) error {
	if err == io.EOF && len(r.unseen) > 0 && r.m.Rows > 0 && !r.refused {
		name := slices.Min(slices.Collect(maps.Keys(r.unseen)))
		return &NoColumn{name, r.unseen[name]}
	}
	return err
}

// NewTexts returns a reader of rows. The reader gets the JSON of each entity from the parameter
// texts, and parses the JSON.
func NewTexts(texts Texts, m *Mapper) *jsonRows {
	return &jsonRows{texts: texts, conversion: conversion{m: m, unseen: namesOf(m)}}
}

func NewJSONRows(text io.Reader, file string, m *Mapper) *jsonRows {
	in := bufio.NewReaderSize(text, 256<<10)
	if IsDocument(in, file) {
		head, _ := in.Peek(1 << 10) // ignore an error: the next read returns it again
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

// row parses an entity; text is its JSON and n its line number.
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

// fill sets the keys and properties of a row from the current line.
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

// properties returns the properties of the current entity. It leaves out properties that become
// keys or are not selected.
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

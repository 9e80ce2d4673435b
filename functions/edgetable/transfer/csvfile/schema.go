package csvfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

// SchemaEnding is the extension of the schema files that AzCopy 7 writes next to its CSV files.
const SchemaEnding = ".schema.csv"

// Schema holds the names and types of the columns of a CSV file.
type Schema struct {
	names []string
	typ   map[string]edm.Type
}

// SchemaOf reads the schema file of a CSV file. It returns nil if there is none.
func SchemaOf(file string) (*Schema, error) {
	name := strings.TrimSuffix(file, ".csv") + SchemaEnding
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := readSchema(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// readSchema reads a schema in one of two layouts: one line with name and type for each column, or one line with all
// names and one line with all types.
func readSchema(text io.Reader) (*Schema, error) {
	r, err := newReader(text)
	if err != nil {
		return nil, err
	}
	var lines [][]cell
	for {
		line, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	s := &Schema{typ: map[string]edm.Type{}}
	if len(lines) == 2 && len(lines[0]) == len(lines[1]) && len(lines[0]) > 2 {
		for i, name := range lines[0] {
			if err := s.add(name.text, lines[1][i].text); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	for i, line := range lines {
		if len(line) < 2 {
			return nil, errors.New("it is not a schema: a line has the name of a column and its type")
		}
		// Ignore an error in the first line, which may be a heading.
		if err := s.add(line[0].text, line[1].text); err != nil && i > 0 {
			return nil, err
		}
	}
	return s, nil
}

func (s *Schema) add(name, typ string) error {
	t, ok := rows.ParseType(typ)
	if !ok {
		return fmt.Errorf("the column %q has the type %q, which is not one of the eight Edm types, such as Edm.Int32", name, typ)
	}
	s.names = append(s.names, name)
	s.typ[name] = t
	return nil
}

func (s *Schema) types() map[string]edm.Type {
	if s == nil {
		return nil
	}
	return s.typ
}

// head returns the column names of a CSV file from its first line. If the line is a row and not a header, head stores
// it in *first and returns the names of the schema.
func (s *Schema) head(line []cell, first *[]cell) []cell {
	if s == nil {
		return line
	}
	for _, c := range line {
		if c.text == rows.PartitionKey {
			return line
		}
	}
	*first = line
	var names []cell
	for _, name := range s.names {
		names = append(names, cell{text: name})
	}
	return names
}

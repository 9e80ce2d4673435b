package transfer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"edgetable/core/edm"
)

// schemaEnding is that of the files with which AzCopy 7 accompanies its CSV.
const schemaEnding = ".schema.csv"

// csvSchema has the names and types of the columns of a file of CSV.
type csvSchema struct {
	names []string
	typ   map[string]edm.Type
}

// schemaOf reads the schema beside a file, nil if there is none.
func schemaOf(file string) (*csvSchema, error) {
	name := strings.TrimSuffix(file, ".csv") + schemaEnding
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

// readSchema reads a schema in both layouts: a column in each line with its type,
// or a line of the names and one of the types.
func readSchema(text io.Reader) (*csvSchema, error) {
	r, err := newCSVReader(text)
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
	s := &csvSchema{typ: map[string]edm.Type{}}
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
			return nil, errors.New("it is no schema: a line has the name of a column and its type")
		}
		if err := s.add(line[0].text, line[1].text); err != nil && i > 0 { // the first may be a heading
			return nil, err
		}
	}
	return s, nil
}

func (s *csvSchema) add(name, typ string) error {
	t, ok := ParseType(typ)
	if !ok {
		return fmt.Errorf("the column %q has the type %q, which is none of the eight, such as Edm.Int32", name, typ)
	}
	s.names = append(s.names, name)
	s.typ[name] = t
	return nil
}

func (s *csvSchema) types() map[string]edm.Type {
	if s == nil {
		return nil
	}
	return s.typ
}

// head returns the names of the columns, given the first line of a file. If that is
// a row already, it is returned in first.
func (s *csvSchema) head(line []cell, first *[]cell) []cell {
	if s == nil {
		return line
	}
	for _, c := range line {
		if c.text == partitionKey {
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

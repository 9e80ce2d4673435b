package rows

import (
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
)

// Sheet writes files in a format that needs all column names in advance, such as CSV. The caller calls Note for each
// entity and stores it as a JSON line. Make then reads the lines, in bounded memory.
type Sheet interface {
	Note(e *payload.Received)            // Note adds the columns of an entity; it must be called for all entities of the table before Make
	Add(after Sheet)                     // Add adds the columns of another Sheet of the same type
	Make(list List, out io.Writer) error // Make writes a file with the entities in list; it is safe for concurrent use
	Notes() []string                     // Notes returns sentences about columns with unexpected names or types
}

// List is a function that passes each entity of a list to a callback. It can be called repeatedly.
type List func(do func(e payload.Received) error) error

// FileEntities returns the entities of a file of JSON lines that edgetable wrote.
func FileEntities(file string) List {
	return func(do func(e payload.Received) error) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return Entities(file, f, do)
	}
}

// Entities passes each entity in a text of JSON lines to the callback. Its errors contain the name of the file.
func Entities(file string, text io.Reader, do func(e payload.Received) error) error {
	lines := NewLineReader(text)
	var r payload.Reader
	for {
		line, number, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, number, err)
		}
		e, err := r.Entity(line)
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, number, err)
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

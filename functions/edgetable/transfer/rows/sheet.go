package rows

import (
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
)

// Sheet writes a file of a format that has all columns at its begin, such as CSV. So the entities
// are first stored as JSON lines, and then read again to make the file. Memory is bounded, and the
// file has the columns of all entities.
type Sheet interface {
	Note(e *payload.Received)            // collects the columns of an entity; called for all entities of the table before Make
	Add(after Sheet)                     // adds the columns that another Sheet of the same kind has collected
	Make(list List, out io.Writer) error // writes a file; may be called by several goroutines, with different lists
	Notes() []string                     // sentences about columns that a reader of the files would not expect
}

// List is a list of entities that can be read several times. Each call of a List calls do for all
// its entities.
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

// Entities calls do for each entity of a text of JSON lines. file is its name for errors.
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

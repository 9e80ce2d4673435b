package rows

import (
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
)

// Sheet writes a file in a format that needs all column names at the start of the file, such as
// CSV. So the entities are first stored as JSON lines. When all columns are known, Sheet reads
// these lines and writes the file. The memory is bounded, and the file has the columns of all
// entities.
type Sheet interface {
	Note(e *payload.Received)            // collects the columns of an entity; must get each entity of the table before the method Make is called
	Add(after Sheet)                     // adds the columns that another Sheet of the same type has collected
	Make(list List, out io.Writer) error // writes a file of the entities in a list; may be called concurrently, with different lists
	Notes() []string                     // sentences about columns with unexpected names or types
}

// List passes each entity of a list to the callback. A List can be called several times.
type List func(do func(e payload.Received) error) error

// FileEntities returns the entities of a file of JSON lines. edgetable must have written the file.
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

// Entities passes each entity in a text of JSON lines to the callback. file is the name of the text
// in errors.
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

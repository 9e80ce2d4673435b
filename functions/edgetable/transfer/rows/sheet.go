package rows

import (
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
)

// Sheet writes files of a format that needs all columns of a table before its first
// row. The entities are first stored as JSON lines and then read again. So late columns
// are included, and memory is bounded.
type Sheet interface {
	Note(e *payload.Received)            // called for all entities of the table before the first call of Make
	Add(after Sheet)                     // adds the columns that another Sheet of the same kind has noted
	Make(list List, out io.Writer) error // several goroutines may call it, each with its list
	Notes() []string                     // what a reader of the files should know
}

// List calls do for each entity of a list that can be read again.
type List func(do func(e payload.Received) error) error

// FileEntities returns the entities of a file that edgetable wrote.
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

// Entities reads lines that edgetable wrote to a file.
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

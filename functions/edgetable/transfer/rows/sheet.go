package rows

import (
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
)

// Sheet makes the files of a format that has to know all columns of a table before
// its first row. The entities are spooled as JSON lines and read again: columns
// that appear late get their place, and memory is bounded.
type Sheet interface {
	Note(e *payload.Received)            // for all entities of the table, before the first call of make
	Add(after Sheet)                     // what another one of the same kind was told to note
	Make(list List, out io.Writer) error // several goroutines may call it, each with its list
	Notes() []string                     // what a reader of the files should know
}

// List calls do for each entity of a list that can be read again.
type List func(do func(e payload.Received) error) error

// FileEntities reads a file that edgetable wrote.
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

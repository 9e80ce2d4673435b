package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Place is where an export goes: a [Directory] or a [Bucket].
type Place interface {
	// Put writes a file as a whole.
	Put(ctx context.Context, name string, text []byte) error
	// Get returns a file, or an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, name string) ([]byte, error)
	// Begun returns the tables of the export there that is not finished, nil if there is
	// none.
	Begun(ctx context.Context) ([]string, error)
	// Remove removes an export of such tables, finished or not, and nothing else.
	Remove(ctx context.Context, tables []string) error

	// at returns the name of a file for people.
	at(name string) string
	// begin opens the journal of the work, or refuses the place.
	begin(ctx context.Context, o *Export, w *tableWork) error
	// part opens what the place has of a part of a table. The journal gets a line each
	// time so much text was written, which may have to be read again after an
	// interruption.
	part(ctx context.Context, o *Export, w *tableWork, table string, p *part) (out partWriter, every int, err error)
	// finish makes the files of a table of its parts, in the order of their keys. A part
	// without rows has none, but a table without rows has one file. It can be repeated
	// after any interruption.
	finish(ctx context.Context, o *Export, t *ManifestTable, parts []*part) error
	// tidy removes what a finished export does not need.
	tidy(ctx context.Context, m *Manifest) error
}

// partWriter writes a part of a table.
type partWriter interface {
	io.Writer
	// note notes in the journal what was written. It may go on until the next call.
	note(state noted) error
	close() error
}

// getJSON reads a file of a place. It returns false if there is none.
func getJSON(ctx context.Context, place Place, name string, to any) (found bool, err error) {
	text, err := place.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, fmt.Errorf("%s: %w", place.at(name), err)
	}
	return true, nil
}

func putJSON(ctx context.Context, place Place, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return place.Put(ctx, name, append(text, '\n'))
}

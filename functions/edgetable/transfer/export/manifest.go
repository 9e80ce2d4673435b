package export

import (
	"context"
	"edgetable/functions/edgetable/transfer/progressfile"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

const (
	ManifestName = "manifest.json"
)

// Manifest lists the files of an export.
type Manifest struct {
	Edgetable int             `json:"edgetable"` // version of the format
	Number    int             `json:"number"`    // number that distinguishes the export from other exports to the same destination
	Command   *Command        `json:"command"`
	Source    string          `json:"source"` // URL of the account
	Format    string          `json:"format"`
	Filter    string          `json:"filter,omitempty"`
	Select    []string        `json:"select,omitempty"`
	Begun     string          `json:"begun"` // time at which the export began; later writes may be missing from the files
	Tables    []ManifestTable `json:"tables"`
	Missing   []string        `json:"missing,omitempty"` // tables that did not exist or were deleted during the export
}

// ManifestTable is an exported table. Its files are in key order.
type ManifestTable struct {
	Name  string                `json:"name"`
	Rows  int64                 `json:"rows"`
	Files []progressfile.Stored `json:"parts"`
	Notes []string              `json:"notes,omitempty"` // sentences about columns with unexpected names or types
}

// manifestVersion is the version of the manifest format that this package writes.
const manifestVersion = 1

// InKeyOrder reports whether an import reads the rows of the files in key order. An export for Excel might not be in
// key order, because it changes some texts.
func (m *Manifest) InKeyOrder() bool { return m.Command == nil || !m.Command.Excel }

// ReadManifest reads the manifest of a finished export. It returns nil if there is none.
func ReadManifest(ctx context.Context, place Place) (*Manifest, error) {
	m, where := &Manifest{}, place.At(ManifestName)
	switch found, err := place.getJSON(ctx, ManifestName, m); {
	case err != nil || !found:
		return nil, err
	case m.Edgetable != manifestVersion:
		return nil, fmt.Errorf("%s has layout %d, which this version does not know", where, m.Edgetable)
	}
	files := 0
	for _, t := range m.Tables {
		if files += len(t.Files); files > maxFiles {
			return nil, fmt.Errorf("%s lists more than %d files", where, maxFiles)
		}
		for _, p := range t.Files {
			if !isFileName(p.File) {
				return nil, fmt.Errorf("%s names the file %.300q, which is not in the same directory", where, p.File)
			}
		}
	}
	return m, nil
}

const maxFiles = 1_000_000

// isFileName reports whether s is valid as a file path in a manifest: relative to the manifest's directory, within it,
// with slashes, and safe on every operating system.
func isFileName(s string) bool {
	control := func(c rune) bool { return c < ' ' || c == 0x7f }
	return fs.ValidPath(s) && s != "." && filepath.IsLocal(filepath.FromSlash(s)) && !strings.ContainsAny(s, `\:`) && !strings.ContainsFunc(s, control)
}

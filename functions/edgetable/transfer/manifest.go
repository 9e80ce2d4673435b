package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names of files in the directory of an export.
const (
	ManifestName = "manifest.json"
)

// Manifest lists the files of an export.
type Manifest struct {
	Edgetable int             `json:"edgetable"` // version of the layout
	Number    int             `json:"number"`    // of the export in its place
	Command   *Command        `json:"command"`
	Source    string          `json:"source"` // URL of the account
	Format    string          `json:"format"`
	Filter    string          `json:"filter,omitempty"`
	Select    []string        `json:"select,omitempty"`
	Begun     string          `json:"begun"` // later writes may be missing
	Tables    []ManifestTable `json:"tables"`
	Missing   []string        `json:"missing,omitempty"` // tables that were not there, or not any more
}

// ManifestTable is an exported table. Its parts are in the order of its keys.
type ManifestTable struct {
	Name  string   `json:"name"`
	Rows  int64    `json:"rows"`
	Parts []Part   `json:"parts"`
	Notes []string `json:"notes,omitempty"` // what a reader of the files should know
}

// Part is a file of an export.
type Part struct {
	File   string `json:"file"` // below the directory, with slashes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// manifestVersion is the layout that this package writes.
const manifestVersion = 1

// readManifest reads the manifest of a finished export; it is nil if there is none.
func readManifest(ctx context.Context, place Place) (*Manifest, error) {
	m, where := &Manifest{}, place.at(ManifestName)
	switch found, err := place.getJSON(ctx, ManifestName, m); {
	case err != nil || !found:
		return nil, err
	case m.Edgetable != manifestVersion:
		return nil, fmt.Errorf("%s has layout %d, which this version does not know", where, m.Edgetable)
	}
	parts := 0
	for _, t := range m.Tables {
		if parts += len(t.Parts); parts > maxParts {
			return nil, fmt.Errorf("%s lists more than %d files", where, maxParts)
		}
		for _, p := range t.Parts {
			if !isPartName(p.File) {
				return nil, fmt.Errorf("%s names %.300q, which is not beside it", where, p.File)
			}
		}
	}
	return m, nil
}

// maxParts bounds the files of an export.
const maxParts = 1_000_000

// isPartName reports whether a name is that of a file below a directory, on every system,
// in the form that it has in a manifest.
func isPartName(s string) bool {
	control := func(c rune) bool { return c < ' ' || c == 0x7f }
	return fs.ValidPath(s) && s != "." && filepath.IsLocal(filepath.FromSlash(s)) && !strings.ContainsAny(s, `\:`) && !strings.ContainsFunc(s, control)
}

// verify compares a file with what the manifest says of it.
func (p *Part) verify(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(p.File))
	bytes, sum, err := checksum(path)
	switch {
	case err != nil:
		return err
	case bytes != p.Bytes:
		return fmt.Errorf("%s has %d bytes, but %d by the manifest: it is cut off or changed", path, bytes, p.Bytes)
	case !strings.EqualFold(sum, p.SHA256):
		return fmt.Errorf("%s has another checksum than in the manifest: it is damaged or changed", path)
	}
	return nil
}

func checksum(path string) (bytes int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, f); err != nil {
		return 0, "", err
	}
	return bytes, hex.EncodeToString(h.Sum(nil)), nil
}

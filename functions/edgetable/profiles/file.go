package profiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/cli"
)

// File is the file with the profiles of a user.
type File struct {
	Path string
	List map[string]Profile
}

// Open reads the file of profiles. If it does not exist, there are no profiles.
func Open(path string) (*File, error) {
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("there is no directory for profiles: %w; --profiles names a file", err)
		}
		path = filepath.Join(dir, "edgetable", "profiles.json")
	}
	f := &File{Path: path, List: map[string]Profile{}}
	text, err := cli.ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &f.List); err != nil {
		return nil, fmt.Errorf("%s is not a file of profiles: %w", path, err)
	}
	return f, nil
}

// Save replaces the file. Only its owner can read it.
func (f *File) Save() error {
	text, err := json.MarshalIndent(f.List, "", "  ")
	if err != nil {
		return err
	}
	return directory.Replace(f.Path, append(text, '\n'), 0o600)
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// ValidName reports whether a text can be the name of a profile. A connection string is not a valid name.
func ValidName(text string) bool { return validName.MatchString(text) }

package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/transfer/ranges"
)

// State is the state of a table's copy: all changes up to Position have been applied. It is written after the changes,
// so a crash may cause some changes to be applied again.
type State struct {
	Service  string `json:"service"`
	Table    string `json:"table"`
	Position string `json:"position"`
	// Listing is set until the first copy of the table is complete. Position was read before the copy began, so the
	// feed after it contains every change that the copy may miss.
	Listing bool `json:"listing,omitempty"`
	// Mark is the key of an entity that proves that the target was not deleted, or nil. Refused is the number of
	// entities that the target rejected.
	Mark    *ranges.Key `json:"mark,omitempty"`
	Refused int64       `json:"refused,omitempty"`
	// Undo is the expiry rule of the source while its withdrawal would make expired entities visible again.
	Undo *Rule `json:"undo,omitempty"`
}

// Read reads the state from a file. It returns false if the file does not exist. It fails if the file belongs to
// another table.
func (s *State) Read(path string) (known bool, err error) {
	if path == "" {
		return false, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var old State
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %w", path, err)
	case old.Table == "":
		return false, fmt.Errorf("%s is not a state file of a table: name another file, or remove it and begin again", path)
	case old.Service != s.Service || old.Table != s.Table || old.Position == "":
		return false, fmt.Errorf("%s is the state of table %s of %s: name another file", path, old.Table, old.Service)
	}
	*s = old
	return true, nil
}

// Write writes the state to a file. If path is "", Write does nothing.
func (s *State) Write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = directory.Replace(path, append(text, '\n'), 0o600)
	}
	return err
}

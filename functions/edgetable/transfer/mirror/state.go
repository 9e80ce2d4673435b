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

// State is a position in the feed of a table. All changes up to this position were applied. The state is
// written after the changes, so after a crash some changes are applied again.
type State struct {
	Service  string `json:"service"`
	Table    string `json:"table"`
	Position string `json:"position"`
	// Listing is true until the first copy of the table is complete. Position was read before this copy
	// began, so the feed after Position has every change that the copy misses.
	Listing bool `json:"listing,omitempty"`
	// Mark is the key of a copied entity. As long as the target has this entity, the copy was not
	// deleted. Mark is nil if no such entity is known. Refused is the number of entities that the
	// target refused.
	Mark    *ranges.Key `json:"mark,omitempty"`
	Refused int64       `json:"refused,omitempty"`
	// Undo is the expiry rule of the source, while a withdrawal of the rule makes expired entities visible again.
	Undo *Rule `json:"undo,omitempty"`
}

// Read reads the state from a file, if the file exists. It fails if the file belongs to another table.
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

// Write writes the state to a file. If path is "", it does nothing.
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

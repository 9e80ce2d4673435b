package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
)

// If an expiry rule is withdrawn within its first hour, expired entities become visible again without events in the
// feed. So the state of a table records the rule during this hour.

// Rule is an expiry rule of a table. UndoUntil is the end of the time in which a withdrawal makes expired entities
// visible again, or "" after this time.
type Rule struct {
	Property  string `json:"property,omitempty"`
	After     string `json:"after,omitempty"`
	UndoUntil string `json:"undoUntil,omitempty"`
}

// options is the part of a table's options that concerns expiry.
type options struct {
	Expire Rule `json:"expire"` // expiry rule that is in force
	Ending Rule `json:"ending"` // expiry rule that was withdrawn after its first hour
}

// checkRule fails if the recorded rule may have been withdrawn within its first hour, and otherwise records the current
// rule. It returns the revision of the options. It does nothing if the service does not return the options.
func (s *State) checkRule(ctx context.Context, from *remote.Client) (revision string, err error) {
	text, revision, err := from.Options(ctx, s.Table)
	if err != nil {
		return "", ctx.Err() // the SAS might not permit this request; other errors recur in the next request for changes
	}
	var now options
	if err := json.Unmarshal(text, &now); err != nil {
		return "", fmt.Errorf("the options of table %s: %w", s.Table, err)
	}
	if s.Undo != nil && !s.Undo.equal(now.Expire) && !s.Undo.equal(now.Ending) {
		return "", fmt.Errorf("%w: the expiry rule of table %s is no longer there; if it was withdrawn within its first hour, expired entities are visible again, without changes in the feed", remote.ErrMissed, s.Table)
	}
	if s.Undo = nil; now.Expire.UndoUntil != "" {
		s.Undo = &now.Expire
	}
	return revision, nil
}

// hasExpired reports whether an entity in a page of changes has expired since its write. Apply deletes it from the copy. It
// may become visible again, so the rule must be recorded before the page counts as applied.
func hasExpired(events []json.RawMessage) bool {
	return slices.ContainsFunc(events, func(text json.RawMessage) bool {
		var e remote.Event
		return bytes.Contains(text, []byte(`"expired"`)) && json.Unmarshal(text, &e) == nil && e.Type == payload.EventPut && e.Expired != ""
	})
}

// equal reports whether two rules make the same entities expire.
func (r *Rule) equal(s Rule) bool { return r.Property == s.Property && r.After == s.After }

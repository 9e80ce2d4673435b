package repository

import (
	"errors"

	"edgetable/core/edm"
)

// LogSpan says where the log continues a backup: it has all commits of the timeline with
// numbers up to Low, perhaps some up to High, and none above. So the first moment that can be
// restored from it is High. The state stays the same up to Quiet.
type LogSpan struct {
	Timeline string    `json:"timeline"`
	Low      edm.Ticks `json:"low"`
	High     edm.Ticks `json:"high"`
	// Quiet is up to which number the timeline has no commits above High, because the store was idle; 0: not known.
	Quiet edm.Ticks `json:"quiet,omitempty"`
	Term  Term      `json:"term,omitzero"` // of the store; zero: not known
	// Alone says that no log continues the backup: the span says only what it has.
	Alone bool `json:"alone,omitempty"`
}

// Synced returns a time before which every write that returned is in the backup, 0 if none is known. A
// store that wrote while it was backed up ships more of its log, which says so.
func (s *LogSpan) Synced() edm.Ticks { return s.syncedAt(s.Low) }

// syncedAt returns a time before which every write that returned has a number up to one, 0 if none is known: when the backup
// was made, it was the last number.
func (s *LogSpan) syncedAt(number edm.Ticks) edm.Ticks {
	if number == s.High && s.Quiet > s.High {
		return s.Quiet
	}
	return 0
}

// ErrEmpty means that the place lost the timeline that a store ships to it.
var ErrEmpty = errors.New("the place is empty: is its disk mounted? If it was emptied on purpose, start the server again")

// Replaced is the error of a store that may not ship: another one does. It is [ErrReplaced].
type Replaced struct {
	Why string // how the place shows it
}

func (r *Replaced) Error() string { return ErrReplaced.Error() + ": " + r.Why }
func (r *Replaced) Unwrap() error { return ErrReplaced }

// ErrReplaced means that another store ships to the place.
var ErrReplaced = errors.New("another store has taken over the place: this one was replaced, and must not ship its log there")

// ErrElsewhere means that the place is not that of the store, or not any more.
var ErrElsewhere = errors.New("the place does not have the history of this store: is the right disk mounted? If it is a new place for this store, empty it, and start the server again")

// Term is one run of a program that ships a timeline: a number, and a random name. Two copies of a data
// directory have the same timeline, and different terms.
type Term struct {
	Number int    `json:"number"` // 1 for the first one of a timeline; 0: there is no term
	Name   string `json:"name"`
}

// NewTerm returns the next term after another one.
func NewTerm(after Term) Term { return Term{after.Number + 1, NewTimelineID()} }

// After reports whether a term is later than another one, or of another copy.
func (t Term) After(u Term) bool {
	return t.Number > u.Number || t.Number == u.Number && t.Name != u.Name
}

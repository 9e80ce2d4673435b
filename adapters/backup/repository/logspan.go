package repository

import (
	"errors"

	"edgetable/core/edm"
)

// LogSpan says where the log continues a backup. The backup has all commits of the timeline with numbers up to Low,
// perhaps some up to High, and none above. Numbers are times, so High is the earliest time to which it can be restored.
type LogSpan struct {
	Timeline string    `json:"timeline"`
	Low      edm.Ticks `json:"low"`
	High     edm.Ticks `json:"high"`
	// Quiet is the number up to which the timeline has no commits above High, because the store was idle; 0 if it is
	// not known.
	Quiet edm.Ticks `json:"quiet,omitempty"`
	Term  Term      `json:"term,omitzero"` // term of the store; zero if it is not known
	// Alone says that no log continues the backup. The span then only says which commits the backup has.
	Alone bool `json:"alone,omitempty"`
}

// Synced returns a time before which every write that returned is in the backup, or 0 if none is known. If the store
// wrote during the backup, Low does not give such a time, but later pieces of the log do.
func (s *LogSpan) Synced() edm.Ticks { return s.syncedAt(s.Low) }

// syncedAt returns a time before which every write that returned has a number up to the given one, or 0 if none is
// known. It is known if that number was the last one when the backup was made.
func (s *LogSpan) syncedAt(number edm.Ticks) edm.Ticks {
	if number == s.High && s.Quiet > s.High {
		return s.Quiet
	}
	return 0
}

// ErrEmpty means that the place has lost the timeline that a store ships to it.
var ErrEmpty = errors.New("the place is empty: is its disk mounted? If it was emptied on purpose, start the server again")

// Replaced is the error of a store that may no longer ship, because another store ships. It matches [ErrReplaced].
type Replaced struct {
	Why string // the evidence in the place
}

func (r *Replaced) Error() string { return ErrReplaced.Error() + ": " + r.Why }
func (r *Replaced) Unwrap() error { return ErrReplaced }

// ErrReplaced means that another store ships to the place.
var ErrReplaced = errors.New("another store has taken over the place: this one was replaced, and must not ship its log there")

// ErrElsewhere means that the place does not belong to the store, or no longer does.
var ErrElsewhere = errors.New("the place does not have the history of this store: is the right disk mounted? If it is a new place for this store, empty it, and start the server again")

// Term identifies one run of a program that ships a timeline, by a number and a random name. Two copies of a data
// directory have the same timeline, but different terms.
type Term struct {
	Number int    `json:"number"` // 1 for the first term of a timeline; 0 for no term
	Name   string `json:"name"`
}

// NewTerm returns the term that follows another one.
func NewTerm(after Term) Term { return Term{after.Number + 1, NewTimelineID()} }

// After reports whether a term is later than another one, or belongs to another copy.
func (t Term) After(u Term) bool {
	return t.Number > u.Number || t.Number == u.Number && t.Name != u.Name
}

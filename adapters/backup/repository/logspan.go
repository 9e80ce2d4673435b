package repository

import (
	"errors"

	"edgetable/core/edm"
)

// LogSpan says where the log continues a backup. The backup has all commits of the timeline with numbers up to Low,
// perhaps some with numbers up to High, and none above High. Commit numbers are times: High is the earliest time to
// which the backup can be restored.
type LogSpan struct {
	Timeline string    `json:"timeline"`
	Low      edm.Ticks `json:"low"`
	High     edm.Ticks `json:"high"`
	// Quiet, if known, is a number such that the timeline has no commits in (High, Quiet], because the store was
	// idle. It is 0 if it is unknown.
	Quiet edm.Ticks `json:"quiet,omitempty"`
	Term  Term      `json:"term,omitzero"` // term of the store; zero if it is not known
	// Alone says that no log continues the backup. The span then only says which commits the backup has.
	Alone bool `json:"alone,omitempty"`
}

// Synced returns a time T such that the backup contains every write that returned before T, or 0 if none is known. If
// the store wrote during the backup, no such T is known from the backup, but it may be known from later log pieces.
func (s *LogSpan) Synced() edm.Ticks { return s.syncedAt(s.Low) }

// syncedAt returns a time T such that every write that returned before T has a commit number up to the given number.
// It returns 0 unless this number was that of the last commit when the backup was made.
func (s *LogSpan) syncedAt(number edm.Ticks) edm.Ticks {
	if number == s.High && s.Quiet > s.High {
		return s.Quiet
	}
	return 0
}

// ErrEmpty means that the timeline of a store is missing in the backup place to which the store ships its log.
var ErrEmpty = errors.New("the backup location is empty: is its disk mounted? If the location was emptied on purpose, start the server again")

// Replaced is the error of a store that must stop shipping its log, because another store ships to the same backup
// place. It matches [ErrReplaced].
type Replaced struct {
	Why string // the evidence that was found in the backup place
}

func (r *Replaced) Error() string { return ErrReplaced.Error() + ": " + r.Why }
func (r *Replaced) Unwrap() error { return ErrReplaced }

// ErrReplaced means that another store ships its log to the backup place.
var ErrReplaced = errors.New("another store has taken over the backup location: this store was replaced, and must not ship its log there")

// ErrElsewhere means that the backup place does not contain the timeline of this store.
var ErrElsewhere = errors.New("the backup location does not have the history of this store: is the right disk mounted? If the location is new for this store, empty it, and start the server again")

// Term identifies one run of a server that ships a timeline, by a number and a random name. Two copies of a data
// directory have the same timeline, but their servers have different terms.
type Term struct {
	Number int    `json:"number"` // 1 for the first term of a timeline; 0 means no term
	Name   string `json:"name"`
}

// NewTerm returns the term that follows another one.
func NewTerm(after Term) Term { return Term{after.Number + 1, NewTimelineID()} }

// After reports whether t is a later term than u, or the term of another copy of the data directory.
func (t Term) After(u Term) bool {
	return t.Number > u.Number || t.Number == u.Number && t.Name != u.Name
}

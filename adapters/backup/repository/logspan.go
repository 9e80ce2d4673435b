package repository

import (
	"errors"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// LogSpan says which commits a backup has: all up to Low, perhaps some in (Low, High], and none above High. The log
// continues the backup after Low.
//
// Commit numbers are times. High is the earliest time to which the backup can be restored.
type LogSpan struct {
	Timeline string    `json:"timeline"`
	Low      edm.Ticks `json:"low"`
	High     edm.Ticks `json:"high"`
	// Quiet is a number such that the timeline has no commits in (High, Quiet], because the store was idle. 0 means
	// that no such number is known.
	Quiet edm.Ticks      `json:"quiet,omitempty"`
	Term  commitlog.Term `json:"term,omitzero"` // term of the store; zero if the term is not known
	// WithoutLog means that no log continues the backup. The LogSpan only says which commits the backup has.
	WithoutLog bool `json:"alone,omitempty"`
}

// Synced returns a time T such that the backup contains every write that was confirmed before T. It returns 0 unless
// the store was idle during the backup.
func (s *LogSpan) Synced() edm.Ticks { return s.syncedAt(s.Low) }

// syncedAt returns a time T such that every write that was confirmed before T has a commit number of at most the given
// one. It returns 0 if no such time is known.
func (s *LogSpan) syncedAt(number edm.Ticks) edm.Ticks {
	if number == s.High && s.Quiet > s.High {
		return s.Quiet
	}
	return 0
}

// ErrEmpty means that the backup location has no timeline, although the store shipped its log or made backups there.
var ErrEmpty = errors.New("the backup location is empty, but this store shipped its log or made backups there: is its disk mounted? To begin anew in the empty location, run 'edgetable backup create' and then start the server again")

// Replaced is the error of a store that another store has replaced in the backup location. It matches [ErrReplaced].
type Replaced struct {
	Reason string // evidence that was found in the backup location
}

func (r *Replaced) Error() string { return ErrReplaced.Error() + ": " + r.Reason }
func (r *Replaced) Unwrap() error { return ErrReplaced }

// ErrReplaced means that another store ships its log to the backup location.
var ErrReplaced = errors.New("another store has taken over the backup location: this store was replaced, and must not ship its log there")

// ErrElsewhere means that the backup location does not contain the timeline of this store.
var ErrElsewhere = errors.New("the backup location does not have the history of this store: is the right disk mounted? The backups in the location are kept")

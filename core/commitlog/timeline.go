package commitlog

import "edgetable/core/edm"

// Timeline is one history of commits. A restored or promoted store begins a new timeline. The names of shipped logs
// contain the ID.
type Timeline struct {
	ID       string    `json:"id"`     // ID of the timeline, or "" until the log is first shipped
	Parent   string    `json:"parent"` // ID of the timeline that this timeline continues, or ""
	ForkedAt edm.Ticks `json:"left"`   // Parent and this timeline have the same commits up to this number; 0 if it is unknown
	// Next is the ID of a timeline that the store tried to begin at the backup location without receiving a reply. If
	// the newest timeline there has this ID, it belongs to this store.
	Next string `json:"next,omitempty"`
	// Term is the last term that a process with this data directory began at the backup location. Tried lists the later
	// terms whose requests got no reply. All other later terms were begun by a copy of the directory.
	Term             Term   `json:"term,omitzero"`
	UnconfirmedTerms []Term `json:"triedTerms,omitempty"`
	// Location is the backup location of the last shipped log or backup, or "" if unknown. If this location contains
	// nothing at a later start, its disk is probably not mounted.
	Location string `json:"place,omitempty"`
	// Replaced is set if the store knows that another store has taken over the backup location.
	Replaced *Replaced `json:"replaced,omitempty"`
	// LogAfter is a commit number. The logs in the data directory contain all commits with higher numbers. 0 means that
	// logs are not retained.
	LogAfter edm.Ticks `json:"since"`
}

// Term identifies one run of a server that ships a timeline. Servers on two copies of a data directory ship the same
// timeline, but have different terms.
type Term struct {
	Number int    `json:"number"` // number of the term: 1 for the first term of a timeline, 0 for no term
	Name   string `json:"name"`
}

// IsAfter reports whether the term t began after u. It also returns true for terms with the same number and different
// names: they began in two copies of a data directory.
func (t Term) IsAfter(u Term) bool {
	return t.Number > u.Number || t.Number == u.Number && t.Name != u.Name
}

// Replaced says why another store has replaced this store at the backup location.
type Replaced struct {
	Reason         string    `json:"why"`   // reason, as part of a sentence
	SharedUpTo     edm.Ticks `json:"until"` // both stores have the same commits up to this number; 0 if unknown
	MissingCommits int       `json:"lacks"` // number of commits of this store that are missing at the backup location; negative if unknown
	MissingSince   edm.Ticks `json:"since"` // Timestamp of the first missing commit; 0 if unknown
}

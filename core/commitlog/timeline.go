package commitlog

import "edgetable/core/edm"

// Timeline is one history of commits. A restored or promoted store begins a new timeline. The ID of the timeline is a
// part of the names of shipped logs.
type Timeline struct {
	ID     string    `json:"id"`     // "" until the log is first shipped
	Parent string    `json:"parent"` // ID of the timeline that this timeline continues; "" if there is none
	Left   edm.Ticks `json:"left"`   // Parent and this timeline have the same commits up to this number; 0 if the number is not known
	// Next is the ID of a timeline that this store tried to begin at the backup location; no reply came. If the newest
	// timeline there has this ID, it belongs to this store.
	Next string `json:"next,omitempty"`
	// Term is the last term (run of a server) that a process with this directory has begun at the backup location.
	// Tried lists later terms that the process tried to begin, but no reply came. Such a term may still begin. If
	// another later term is at the backup location, a process with a copy of this directory began it.
	Term  Term   `json:"term,omitzero"`
	Tried []Term `json:"triedTerms,omitempty"`
	// Place names the backup location to which the log was last shipped, or to which the last backup was made; "" if it is not
	// known. If the location is empty at a later start, its disk is probably not mounted.
	Place string `json:"place,omitempty"`
	// Replaced is set if this store knows that another store has taken over the backup location.
	Replaced *Replaced `json:"replaced,omitempty"`
	// Since is a commit number. The logs in the data directory contain all commits with higher numbers. 0 means that logs are not kept.
	Since edm.Ticks `json:"since"`
}

// Term identifies one run of a server that ships a timeline, by a number and a random name. Two copies of a data
// directory have the same timeline, but their servers have different terms.
type Term struct {
	Number int    `json:"number"` // 1 for the first term of a timeline; 0 means no term
	Name   string `json:"name"`
}

// After reports whether the term t (a run of a server) began after the term u. It is also true for two terms with the
// same number and different names: they began in copies of one data directory.
func (t Term) After(u Term) bool {
	return t.Number > u.Number || t.Number == u.Number && t.Name != u.Name
}

// Replaced says why another store has replaced this store at the backup location.
type Replaced struct {
	Why   string    `json:"why"`   // the reason, as a part of a sentence
	Until edm.Ticks `json:"until"` // both stores have the same commits up to this number; 0 if it is not known
	Lacks int       `json:"lacks"` // number of commits of this store that the backup location lacks; negative if it is not known
	Since edm.Ticks `json:"since"` // Timestamp of the first commit that the backup location lacks; 0 if it is not known
}

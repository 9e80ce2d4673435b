package commitlog

import "edgetable/core/edm"

// Commit is the number of a commit and the record of the commit in the log. Only the store knows the form of the record.
type Commit struct {
	Number edm.Ticks
	Record []byte
}

// Reader reads the commits of an open store from its log, in the order of their numbers. A Reader is not safe for
// concurrent use.
type Reader interface {
	// Next returns, in order, the commits with numbers in (from, to]. The parameter size is the approximate size of these
	// commits in bytes. All commits up to the number upTo must be durable, and Next returns no higher commits. If all
	// these commits were already returned, Next returns none. The returned commits are valid until the next call.
	Next(upTo edm.Ticks, size int) (list []Commit, from, to edm.Ticks, err error)
	// Shipped records that the backup location has all commits up to the given number. The store need no longer keep the
	// logs of these commits.
	Shipped(to edm.Ticks) error
}

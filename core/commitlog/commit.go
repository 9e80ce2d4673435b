package commitlog

import "edgetable/core/edm"

// Commit is a commit in the log of a store. The form of Record is known only to the store.
type Commit struct {
	Number edm.Ticks
	Record []byte
	Empty  bool // whether the commit changes no data; only a [Reader] sets it
}

// Reader reads the commits of an open store from its log, in the order of their numbers. It is not safe for concurrent
// use.
type Reader interface {
	// Next returns the commits with numbers in (from, to], in order: about size bytes, and none above upTo. All commits
	// up to upTo must be durable. list is valid until the next call.
	Next(upTo edm.Ticks, size int) (list []Commit, from, to edm.Ticks, err error)
	// Shipped records that the backup location has all commits up to the given number. The store no longer needs to
	// retain the logs of these commits.
	Shipped(to edm.Ticks) error
}

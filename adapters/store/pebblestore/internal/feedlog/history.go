package feedlog

import (
	"crypto/rand"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// History identifies a sequence of states of a store, and the earlier histories that this sequence continues. A restore begins a new history.
type History struct {
	ID   table.History
	left []branch // earlier histories, oldest first
}

// branch is an earlier history. The store has the commits of this history with numbers <= branch.at.
type branch struct {
	id table.History
	at edm.Ticks
}

const (
	branchLength = len(table.History{}) + 8
	mostBranches = 64
)

// NewHistory returns a history with a random ID that continues no other history.
func NewHistory() (h History) {
	rand.Read(h.ID[:])
	return h
}

// Branch returns a new history with a random ID. The new history continues h after the given commit number.
func (h History) Branch(at edm.Ticks) History {
	next := NewHistory()
	for _, b := range append(h.left[:len(h.left):len(h.left)], branch{h.ID, at}) {
		next.left = append(next.left, branch{b.id, min(b.at, at)})
	}
	if n := len(next.left); n > mostBranches {
		next.left = next.left[n-mostBranches:]
	}
	return next
}

// Has reports whether h contains all commits of the given history up to a number. A client that has read these commits
// can then continue with h.
func (h History) Has(id table.History, at edm.Ticks) bool {
	if id == h.ID {
		return true
	}
	for _, b := range h.left {
		if b.id == id {
			return at <= b.at
		}
	}
	return false
}

// Append appends the stored form of the history to dst.
func (h History) Append(dst []byte) []byte {
	dst = append(dst, h.ID[:]...)
	for _, b := range h.left {
		dst = append(dst, b.id[:]...)
		dst = Head{Floor: b.at}.Append(dst)[:len(dst)+8]
	}
	return dst
}

// ParseHistory is the inverse of Append. ok is false if b is not a history.
func ParseHistory(b []byte) (h History, ok bool) {
	n := len(h.ID)
	if len(b) < n || (len(b)-n)%branchLength != 0 {
		return h, false
	}
	copy(h.ID[:], b)
	for b = b[n:]; len(b) > 0; b = b[branchLength:] {
		var one branch
		copy(one.id[:], b)
		head, _ := ParseHead(append(b[n:branchLength:branchLength], 0, 0, 0, 0, 0, 0, 0, 0))
		one.at = head.Floor
		h.left = append(h.left, one)
	}
	return h, true
}

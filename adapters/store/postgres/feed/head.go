package feed

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

var errHead = errors.New("the record that describes a change feed is damaged")

// head describes a feed, as one snapshot shows it.
type head struct {
	live   bool // the table exists with the requested incarnation
	traits *table.Traits
	hasRow bool // the row that describes the feed exists

	incarnation                   table.Incarnation
	life                          int64
	firstNumber, floor            int64
	begunAt, removedUpTo, endedAt edm.Ticks
	isSettled                     bool
	revision, trims               int64
	snapshot                      Snapshot
}

// readHead reads the columns of statement.FeedHead. The second argument is the requested incarnation; nil means the
// current one.
func readHead(name string, of []byte, v [][]byte) (h head, exists bool, err error) {
	exists = v[0] != nil
	h.live = exists && (of == nil || bytes.Equal(v[0], of))
	if h.live {
		if h.traits, err = ruled.Parse(name, v[1]); err != nil {
			return h, exists, err
		}
	}
	if v[2] != nil {
		if len(v[2]) != len(h.incarnation) {
			return h, exists, errHead
		}
		h.hasRow, h.incarnation = true, table.Incarnation(v[2])
		h.life, h.firstNumber, h.floor = statement.Number(v[3]), statement.Number(v[4]), statement.Number(v[6])
		h.begunAt, h.removedUpTo, h.endedAt = edm.Ticks(statement.Number(v[5])), edm.Ticks(statement.Number(v[7])), edm.Ticks(statement.Number(v[8]))
		h.isSettled, h.revision, h.trims = len(v[9]) == 1 && v[9][0] == 1, statement.Number(v[10]), statement.Number(v[12])
	}
	var ok bool
	if h.snapshot, ok = ParseSnapshot(v[11]); !ok {
		return h, exists, errHead
	}
	return h, exists, nil
}

// refuse returns the reason why a page cannot be read, or nil.
func (h *head) refuse(r *table.FeedRequest, exists bool) error {
	switch {
	case r.From == nil && !exists:
		return table.ErrNoTable
	case !h.live && (!h.hasRow || h.endedAt == 0):
		return table.ErrFeedEnded
	case !h.hasRow || h.live && !h.traits.Feeds():
		return table.ErrNoFeed
	}
	return nil
}

// hasMissed reports whether Trim may have removed lines that a reader at p has not read.
func (h *head) hasMissed(p *Position) bool {
	switch {
	case p.low() > h.floor || p.Trims == h.trims:
		return false
	case p.Until != nil && p.readUpTo() >= h.removedUpTo && p.Until.low() > h.floor:
		return false // every removed line is in the reader's window, and the reader has already read it
	}
	return true
}

// home identifies the connected database. In a copy of a database, the SQL table home still contains the identifiers of
// the original.
type home struct {
	system, database, timeline []byte
	at                         bool // the SQL table home contains the identifiers of the connected database
}

func readHome(v [][]byte) home {
	h := home{bytes.Clone(v[0]), bytes.Clone(v[1]), bytes.Clone(v[2]), false}
	h.at = bytes.Equal(v[0], v[3]) && bytes.Equal(v[1], v[4])
	return h
}

// history identifies the history of the database. Positions of another history are invalid, because the database may
// have lost commits and reused their transaction numbers.
func (h *home) history() table.History {
	sum := sha256.Sum256(bytes.Join([][]byte{h.system, h.database, h.timeline}, []byte("/")))
	return table.History(sum[:])
}

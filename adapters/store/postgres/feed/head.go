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

var errHead = errors.New("stored head of a feed is damaged")

// head is the description of a feed, as one snapshot shows it.
type head struct {
	live   bool // the table exists, and its incarnation is that of the feed
	traits *table.Traits
	kept   bool // the feed exists

	incarnation           table.Incarnation
	life                  int64
	since, floor          int64
	begun, removed, ended edm.Ticks
	settled               bool
	revision, trims       int64
	now                   Snapshot
}

// readHead reads the columns of statement.FeedHead. of is the incarnation of the request; nil means the current one.
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
		h.kept, h.incarnation = true, table.Incarnation(v[2])
		h.life, h.since, h.floor = statement.Number(v[3]), statement.Number(v[4]), statement.Number(v[6])
		h.begun, h.removed, h.ended = edm.Ticks(statement.Number(v[5])), edm.Ticks(statement.Number(v[7])), edm.Ticks(statement.Number(v[8]))
		h.settled, h.revision, h.trims = len(v[9]) == 1 && v[9][0] == 1, statement.Number(v[10]), statement.Number(v[12])
	}
	var ok bool
	if h.now, ok = ParseSnapshot(v[11]); !ok {
		return h, exists, errHead
	}
	return h, exists, nil
}

// refuse returns the reason why there is no page, or nil.
func (h *head) refuse(r *table.FeedRequest, exists bool) error {
	switch {
	case r.From == nil && !exists:
		return table.ErrNoTable
	case !h.live && (!h.kept || h.ended == 0):
		return table.ErrFeedEnded
	case !h.kept || h.live && !h.traits.Feeds():
		return table.ErrNoFeed
	}
	return nil
}

// missed reports whether lines may have been removed that the position has not read.
func (h *head) missed(p *Position) bool {
	switch {
	case p.low() > h.floor || p.Trims == h.trims:
		return false
	case p.Until != nil && p.Last >= h.removed && p.Until.low() > h.floor:
		return false // the lines of the window were read, and all others come later
	}
	return true
}

// home identifies the database that keeps the feeds, and the database of this connection.
type home struct {
	system, database, timeline []byte
	at                         bool // the connection is to the database that keeps the feeds
}

func readHome(v [][]byte) home {
	h := home{bytes.Clone(v[0]), bytes.Clone(v[1]), bytes.Clone(v[2]), false}
	h.at = bytes.Equal(v[0], v[3]) && bytes.Equal(v[1], v[4])
	return h
}

// history identifies the sequence of states that positions belong to. Another timeline may have lost commits and
// reused their numbers, so its positions are not compatible.
func (h *home) history() table.History {
	sum := sha256.Sum256(bytes.Join([][]byte{h.system, h.database, h.timeline}, []byte("/")))
	return table.History(sum[:])
}

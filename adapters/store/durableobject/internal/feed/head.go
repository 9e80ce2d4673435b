// Package feed stores the feed of an object's table: a line for each commit, and marks for keys that came from or went
// to another range.
//
// The lines of a day are stored and removed together. The head is one row with all other data. Each incarnation of the
// table has its own head, because a feed outlives its table.
package feed

import (
	"bytes"
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Head is the feed of one incarnation without its lines.
type Head struct {
	Incarnation table.Incarnation
	Retention   edm.Ticks
	Since       edm.Ticks // lines up to this Timestamp belong to earlier incarnations
	Floor       edm.Ticks // lines up to this Timestamp are removed, or were never written because the feed was off
	Cut         edm.Ticks // the time at which the range last stopped serving keys that it handed over
	// First and Last are the first and last day that may have lines; First is 0 if there is none.
	First, Last  uint32
	RemovedBytes uint64 // bytes of all removed lines
	EndReason    EndReason
	End          edm.Ticks
	Marks        []Mark
}

// EndReason is the reason why a feed has ended, or NotEnded if the feed has not ended.
type EndReason byte

const (
	NotEnded EndReason = iota // more lines will follow
	Left                      // the range handed over all its keys and ended
	Dropped                   // the table was dropped
)

// Mark records that keys came from another range or went to another range. Marks and lines are ordered by their
// Timestamps.
type Mark struct {
	At    edm.Ticks
	Kind  message.FeedKind // FeedGave, FeedBegan or FeedTook
	Range uint32
	Cut   edm.Ticks // for FeedBegan and FeedTook: the lines of the other range up to this Timestamp precede the lines after this Mark
}

// keepsMarks is the minimum time for which a feed keeps its Marks, and for which the Head of a range that handed over
// all its keys is kept.
const keepsMarks = 30 * 24 * 3600 * edm.TicksPerSecond

func rowOf(incarnation table.Incarnation) []byte {
	return storage.RowOf(storage.SpaceFeeds, string(incarnation[:]))
}

func (h *Head) put(rows storage.Rows) {
	v := make([]byte, 0, 64+24*len(h.Marks))
	for _, n := range [...]uint64{uint64(h.Retention), uint64(h.Since), uint64(h.Floor), uint64(h.Cut), uint64(h.First), uint64(h.Last), h.RemovedBytes, uint64(h.EndReason), uint64(h.End), uint64(len(h.Marks))} {
		v = binary.AppendUvarint(v, n)
	}
	for _, m := range h.Marks {
		for _, n := range [...]uint64{uint64(m.At), uint64(m.Kind), uint64(m.Range), uint64(m.Cut)} {
			v = binary.AppendUvarint(v, n)
		}
	}
	rows.Put(rowOf(h.Incarnation), v)
}

func readHead(k, v []byte) *Head {
	h := &Head{}
	copy(h.Incarnation[:], k[1:])
	r := message.Read(v)
	next := func() edm.Ticks { return edm.Ticks(r.Number(1<<63 - 1)) }
	h.Retention, h.Since, h.Floor, h.Cut = next(), next(), next(), next()
	h.First, h.Last, h.RemovedBytes = uint32(next()), uint32(next()), uint64(next())
	h.EndReason, h.End = EndReason(next()), next()
	for n := next(); n > 0 && r.OK(); n-- {
		h.Marks = append(h.Marks, Mark{At: next(), Kind: message.FeedKind(next()), Range: uint32(next()), Cut: next()})
	}
	if !r.Done() || h.EndReason > Dropped {
		panic("the feed of a table is damaged or was written by a later version")
	}
	return h
}

// load reads the head of an incarnation. It returns nil if there is no head.
func load(rows storage.Rows, incarnation table.Incarnation) *Head {
	k := rowOf(incarnation)
	if v, ok := rows.Get(k); ok {
		return readHead(k, v)
	}
	return nil
}

func heads(rows storage.Rows) (list []*Head) {
	for k, v := range rows.Scan([]byte{storage.SpaceFeeds}, []byte{storage.SpaceFeeds + 1}, 4<<10) {
		list = append(list, readHead(bytes.Clone(k), bytes.Clone(v)))
	}
	return list
}

// newHead returns the head of a feed without lines.
func newHead(rows storage.Rows, incarnation table.Incarnation, traits *table.Traits) *Head {
	h := &Head{Incarnation: incarnation, Retention: traits.Feed.Keep}
	for _, other := range heads(rows) {
		h.Since = max(h.Since, other.End)
	}
	return h
}

// DeleteAll deletes all rows except the heads of feeds.
func DeleteAll(rows storage.Rows) {
	list := heads(rows)
	rows.DeleteAll()
	for _, h := range list {
		h.put(rows)
	}
}

// Wipe deletes all feeds.
func Wipe(rows storage.Rows) {
	for _, h := range heads(rows) {
		h.dropDays(rows, 1<<32-1)
		rows.Delete(rowOf(h.Incarnation))
	}
}

// dropDays removes the lines of all days before the given day.
func (h *Head) dropDays(rows storage.Rows, day uint32) {
	for h.First != 0 && h.First < day {
		rows.DropDay(h.First)
		if h.First++; h.First > h.Last {
			h.First, h.Last = 0, 0
		}
	}
}

package feed

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Feed is the feed of the incarnation that an object serves. The zero value is a feed that stores no lines.
type Feed struct {
	// Due is when the alarm next removes old lines; 0 means never.
	Due edm.Ticks

	head *Head // head of the feed; nil if the table keeps no feed
	sum  uint64
	line table.FeedLine
}

// Load reads the feed, if the table has one.
func (f *Feed) Load(rows storage.Rows, incarnation table.Incarnation, traits *table.Traits) {
	*f = Feed{Due: f.Due}
	if !traits.Feeds() {
		return
	}
	if f.head = load(rows, incarnation); f.head == nil { // the object had no keys of this incarnation before
		f.head = newHead(rows, incarnation, traits)
	}
	f.sum = f.head.RemovedBytes
	if h := f.head; h.First != 0 {
		if k, v, ok := h.lastLine(rows, ever); ok {
			f.sum = sumOf(v) + sizeOf(k, v)
		}
		f.Due = h.nextTrim()
	}
}

// OtherSize returns the approximate size of all rows except the lines of the feed, at least 1. The parameter all is the
// size of all rows.
func (f *Feed) OtherSize(all int64) int64 {
	if f.head == nil {
		return all
	}
	return max(all-int64(f.sum-f.head.RemovedBytes), 1)
}

// Begin begins the line of a commit.
func (f *Feed) Begin() { f.line = table.FeedLine{} }

// Add adds an applied mutation to the line.
func (f *Feed) Add(m *table.Mutation, e *table.Effect) {
	if f.head != nil {
		f.line.Add(m, e)
	}
}

// Commit writes the line, and returns its size in bytes.
func (f *Feed) Commit(rows storage.Rows, at edm.Ticks) int {
	if f.head == nil || len(f.line.Bytes()) == 0 {
		return 0
	}
	h := f.head
	if day := storage.DayOf(at); h.First == 0 || day > h.Last {
		if h.Last = day; h.First == 0 {
			h.First = day
		}
		h.put(rows)
		f.Due = h.nextTrim()
	}
	k, v := storage.LineKey(at), append(binary.AppendUvarint(nil, f.sum), f.line.Bytes()...)
	rows.Put(k, v)
	f.sum += sizeOf(k, v)
	f.line = table.FeedLine{}
	return len(k) + len(v)
}

// Declared starts or ends the feed after the declared options have changed, and reports whether the feed starts. A feed
// that ends is deleted.
func (f *Feed) Declared(rows storage.Rows, incarnation table.Incarnation, traits *table.Traits, issue func() edm.Ticks) (begins bool) {
	h := load(rows, incarnation)
	switch {
	case !traits.Feeds() && h != nil:
		h.loseDays(rows, 1<<32-1)
		rows.Delete(rowOf(incarnation))
	case traits.Feeds() && f.head == nil:
		h = newHead(rows, incarnation, traits)
		h.Floor = issue()
		h.put(rows)
		begins = true
	case traits.Feeds() && f.head.Retention != traits.Feed.Keep:
		f.head.Retention = traits.Feed.Keep
		f.head.put(rows)
	}
	f.Load(rows, incarnation, traits)
	return begins
}

// Sealed records that the range no longer serves some keys, because another range will receive them. The parameter to
// is the id of that range, or 0 in a merge.
//
// Sealed returns a Timestamp after which this feed has no changes of these keys, or 0 without a feed.
func (f *Feed) Sealed(rows storage.Rows, to uint32, issue func() edm.Ticks) edm.Ticks {
	if f.head == nil {
		return 0
	}
	f.head.Cut = issue()
	if to != 0 {
		f.head.addMark(Mark{At: f.head.Cut, Kind: message.FeedGave, Range: to})
	}
	f.head.put(rows)
	return f.head.Cut
}

// SealedAt returns the Timestamp that Sealed returned when the range last stopped serving keys, or 0.
func (f *Feed) SealedAt() edm.Ticks {
	if f.head == nil {
		return 0
	}
	return f.head.Cut
}

// RecordReceived records in the feed that the range received keys: a new range received all its keys, and an old range
// received all keys of its left neighbour.
func (f *Feed) RecordReceived(rows storage.Rows, kind message.FeedKind, from uint32, cut edm.Ticks, issue func() edm.Ticks) {
	if f.head != nil && cut != 0 {
		f.head.addMark(Mark{At: issue(), Kind: kind, Range: from, Cut: cut})
		f.head.put(rows)
	}
}

// addMark appends a Mark, and removes Marks that are too old.
func (h *Head) addMark(m Mark) {
	for len(h.Marks) > 0 && h.Marks[0].At < m.At-max(keepsMarks, h.Retention) {
		h.Floor = max(h.Floor, h.Marks[0].At)
		h.Marks = h.Marks[1:]
	}
	h.Marks = append(h.Marks, m)
}

// End ends the feed, because the range ceased to exist or the table was dropped.
func (f *Feed) End(rows storage.Rows, why EndReason, issue func() edm.Ticks) {
	if f.head == nil {
		return
	}
	f.head.EndReason, f.head.End = why, issue()
	f.head.put(rows)
	*f = Feed{Due: f.head.nextTrim()}
}

package feed

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Reader reads the lines of a feed, and adds the current entities of the object.
type Reader struct {
	Rows   storage.Rows
	Now    edm.Ticks
	Clock  *clock.Clock
	Traits *table.Traits
	// Has reports whether the object has a key. Read returns the entity with a key, or nil if there is none.
	Has  func(k []byte) bool
	Read func(k []byte) (*table.Row, error)
	// Unknown is the id of a range to which keys have moved, if the catalog might not know of the move yet; otherwise 0.
	Unknown uint32
}

// withoutEntities returns a reader for the feed of a dropped table, whose entities are deleted.
func (r *Reader) withoutEntities() Reader {
	c := *r
	c.Has = func([]byte) bool { return true }
	c.Read = func([]byte) (*table.Row, error) { return nil, nil }
	return c
}

// grid is the interval of Timestamps to which positions of idle ranges are rounded, so that many ranges have the same
// position.
const grid = 600 * edm.TicksPerSecond

// Answer appends the answer to a question. If live is true, the object serves the given incarnation of the table, whose
// feed is f.
func (f *Feed) Answer(dst []byte, r Reader, incarnation table.Incarnation, isCurrent bool, q *message.FeedQuestion) ([]byte, error) {
	own := isCurrent && incarnation == q.Life
	h := f.head
	if !own {
		h = load(r.Rows, q.Life)
	}
	a := message.FeedAnswer{State: h.state(own, r.Now), Next: q.From}
	if a.State == message.FeedOff || a.State == message.FeedAbsent {
		return message.AppendFeedAnswer(dst, &a), nil
	}
	a.Retention = h.Retention
	top, goes := h.End, h.EndReason == NotEnded && own
	switch h.EndReason {
	case NotEnded:
		top = f.closedUntil(&r)
	case Dropped:
		a.End = h.End
		r = r.withoutEntities()
	}
	cutoff := r.Now - h.Retention
	if goes && q.From != message.FeedEnd && q.From > max(r.Clock.Last, r.Clock.Reserved, h.Floor, h.Since) {
		a.State = message.FeedWaits // the object has returned to an earlier state
		return message.AppendFeedAnswer(dst, &a), nil
	}
	switch q.From {
	case message.FeedEnd:
		f.answerEnd(&r, h, &a, top, q.ManyRanges)
		return message.AppendFeedAnswer(dst, &a), nil
	case message.FeedOldest:
		a.Parents = h.parents(func(m *Mark) bool { return m.Kind != message.FeedGave })
		a.Next = max(h.Since, h.Floor, min(cutoff-1, top), message.FeedOldest+1)
	default:
		if expired := q.From < h.Floor || q.From < cutoff && h.hasLine(r.Rows, q.From, cutoff); expired {
			a.State = message.FeedExpired
			return message.AppendFeedAnswer(dst, &a), nil
		}
	}
	a.Next = max(a.Next, h.Since)
	a.Start = a.Next
	items, err := h.collect(&r, q, &a)
	if err != nil {
		return nil, err
	}
	if !a.More {
		a.Next = f.round(&r, h, max(a.Next, top), q.ManyRanges && goes)
	}
	return append(message.AppendFeedAnswer(dst, &a), items...), nil
}

// state returns the state of a feed before its lines are read. If there is no such feed, h is nil. The parameter
// isCurrent means that the object serves the feed's incarnation.
func (h *Head) state(isCurrent bool, now edm.Ticks) message.FeedState {
	switch {
	case h == nil && isCurrent:
		return message.FeedOff
	case h == nil || h.EndReason == Dropped && h.removable() <= now:
		return message.FeedAbsent
	case h.EndReason == Left:
		return message.FeedLeft
	case h.EndReason == Dropped:
		return message.FeedDropped
	}
	return message.FeedKept
}

// answerEnd answers with the position at the end of the feed, and with other ranges that a reader must read from there
// on. The feed has no lines after top.
func (f *Feed) answerEnd(r *Reader, h *Head, a *message.FeedAnswer, top edm.Ticks, many bool) {
	end := max(top, h.Floor)
	if r.Unknown != 0 {
		end = h.positionBefore(r.Unknown, end)
	}
	a.Parents = h.parents(func(m *Mark) bool { return m.Kind == message.FeedTook && m.At > end })
	a.Next = f.round(r, h, end, many)
}

// parents returns the other range of each Mark for which the function returns true.
func (h *Head) parents(chooses func(m *Mark) bool) (list []uint32) {
	for i := range h.Marks {
		if m := &h.Marks[i]; chooses(m) {
			list = append(list, m.Range)
		}
	}
	return list
}

// closedUntil returns a Timestamp that is below all later lines. It is at most the clock's reservation, above which the
// clock begins after a restart.
func (f *Feed) closedUntil(r *Reader) edm.Ticks {
	top := min(max(r.Now, r.Clock.Last), r.Clock.Reserved)
	r.Clock.Last = max(r.Clock.Last, top)
	return top
}

// positionBefore returns the position before the Mark for keys that moved to a given range. If there is no such Mark,
// or the position at is earlier, it returns at.
func (h *Head) positionBefore(to uint32, position edm.Ticks) edm.Ticks {
	for _, m := range h.Marks {
		if m.Kind == message.FeedGave && m.Range == to {
			return min(position, m.At-1)
		}
	}
	return position
}

// round returns a position between the last line and the Timestamp top. It prefers multiples of ten minutes: if many
// ranges have the same position, it is encoded in few bytes.
func (f *Feed) round(r *Reader, h *Head, top edm.Ticks, manyRanges bool) edm.Ticks {
	if !manyRanges || h.EndReason != NotEnded {
		return top
	}
	last := h.Floor
	if k, _, ok := h.lastLine(r.Rows, ever); ok {
		last = max(last, storage.TicksOfLine(k))
	}
	for _, m := range h.Marks {
		last = max(last, m.At)
	}
	if to := r.Now - r.Now%grid; last <= to && r.Unknown == 0 {
		if to > r.Clock.Reserved {
			r.Clock.Reserved = to
			storage.PutTicks(r.Rows, clock.Row, to)
		}
		r.Clock.Last = max(r.Clock.Last, to)
		return to
	}
	for step := edm.Ticks(grid); step > 1; step /= 10 {
		if to := top - top%step; to >= last {
			return to
		}
	}
	return top
}

func (h *Head) hasLine(rows storage.Rows, after, before edm.Ticks) bool {
	k, _, ok := h.lastLine(rows, before)
	return ok && storage.TicksOfLine(k) > after
}

// collect returns the lines and Marks after a.Next as items, and moves a.Next past them.
func (h *Head) collect(r *Reader, q *message.FeedQuestion, a *message.FeedAnswer) (items []byte, err error) {
	request := table.FeedRequest{Within: q.Range, Changes: q.Changes, Bytes: largestAnswer}
	if q.Bytes > 0 {
		request.Bytes = min(q.Bytes, largestAnswer)
	}
	j := newJoiner(r, &request)
	j.builder.Part, j.builder.PartOf = q.Part, q.From+1
	if !q.Divides {
		j.builder.Largest = undivided
	}
	marks := h.Marks
	for len(marks) > 0 && marks[0].At <= a.Next {
		marks = marks[1:]
	}
	addMarks := func(before edm.Ticks) {
		for len(marks) > 0 && marks[0].At < before {
			m := &marks[0]
			item := message.FeedItem{Kind: m.Kind, Ticks: m.At, Range: m.Range, Cut: m.Cut}
			items, a.Next, marks = message.AppendFeedItem(items, &item), m.At, marks[1:]
		}
	}
	end := ever
	if h.EndReason != NotEnded {
		end = h.End + 1
	}
	for day := max(h.First, storage.DayOf(a.Next)); h.First != 0 && day <= h.Last && !a.More; day++ {
		from := storage.LineKey(max(a.Next+1, storage.BeginOfDay(day)))
		if storage.DayOf(a.Next+1) > day {
			continue
		}
		// Reading an entity ends a scan of lines, so read several lines before their entities.
		for more := true; more && !a.More; {
			var lines []line
			lines, more = readLines(r.Rows, from, storage.DayAfter(day))
			for _, l := range lines {
				if l.at >= end {
					addMarks(end)
					return items, nil
				}
				addMarks(l.at)
				if items, a.More, err = j.add(items, l.at, l.text); err != nil {
					return nil, err
				}
				if a.Next = l.at; j.part > 0 {
					a.Next-- // the next page begins with this line again
				}
				if a.More {
					return items, nil
				}
				from = storage.LineKey(l.at + 1)
			}
			if storage.DayOf(a.Next+1) > day {
				break
			}
		}
	}
	addMarks(end)
	return items, nil
}

type line struct {
	at   edm.Ticks
	text []byte
}

// readLines reads about 64 KiB of lines. The result hasMore reports whether the feed may have further lines below the
// key to.
func readLines(rows storage.Rows, from, to []byte) (list []line, hasMore bool) {
	const most = 64 << 10
	size := 0
	for k, v := range rows.Scan(from, to, 16<<10) {
		if size >= most {
			return list, true
		}
		size += len(v)
		_, n := binary.Uvarint(v)
		list = append(list, line{storage.TicksOfLine(k), append([]byte(nil), v[max(n, 0):]...)})
	}
	return list, false
}

// An object's memory must hold an answer and its entities. An answer ends when it reaches largestAnswer. A commit is
// divided after largestPart. Both limits count bytes of keys and properties.
const (
	largestAnswer = 1 << 20
	largestPart   = 768 << 10
	undivided     = 1 << 30 // more than the size of any commit
)

// joiner adds the current entities to the lines of a feed.
type joiner struct {
	builder   table.FeedBuilder
	elsewhere []byte // the key of an entity that has moved to another range; nil if there is none
	part      int    // how many changes of the last line the reader has; 0 if the reader has all of them
}

func newJoiner(r *Reader, request *table.FeedRequest) *joiner {
	j := &joiner{builder: table.NewFeedBuilder(request)}
	j.builder.Largest = largestPart
	j.builder.Traits, j.builder.Now = r.Traits, r.Clock.Instant(r.Now)
	j.builder.Read = func(k []byte) (*table.Row, error) {
		if !r.Has(k) {
			j.elsewhere = append([]byte(nil), k...)
			return nil, nil
		}
		return r.Read(k)
	}
	return j
}

// add appends a commit if it changed a key that the request includes.
func (j *joiner) add(items []byte, at edm.Ticks, text []byte) ([]byte, bool, error) {
	j.elsewhere = nil
	full, err := j.builder.Add(at, func(part int) []byte {
		j.part = part
		return nil
	}, text)
	if err != nil {
		return items, false, err
	}
	for i := range j.builder.Page.Commits {
		items = message.AppendFeedItem(items, j.item(&j.builder.Page.Commits[i], text))
	}
	j.builder.Page.Commits = j.builder.Page.Commits[:0]
	return items, full, nil
}

func (j *joiner) item(c *table.FeedCommit, text []byte) *message.FeedItem {
	i := &message.FeedItem{Kind: message.FeedCommit, Ticks: c.Ticks, Changes: c.Changes}
	if j.elsewhere != nil {
		i.Kind, i.Line, i.Key = message.FeedElsewhere, text, j.elsewhere
	}
	if n := len(c.Changes); c.All > n || c.Changes[n-1].Index > n && j.builder.Largest != undivided {
		i.Kind, i.Part, i.All = message.FeedPart, j.part, c.All
	}
	return i
}

// Look appends lines of another range with the entities that this range has. Lines that do not fit are appended without
// entities, and the reader asks again.
func (r *Reader) Look(dst []byte, lines message.Reader, within key.Range) ([]byte, bool, error) {
	full := false
	for j := newJoiner(r, &table.FeedRequest{Within: within, Bytes: largestAnswer}); lines.OK() && !lines.Done(); {
		i := lines.FeedItem()
		if !lines.OK() || !i.IsElsewhere() && i.Kind != message.FeedPart {
			return dst, false, nil
		}
		divides := len(i.Key) > 0
		if full && divides {
			dst = message.AppendFeedItem(dst, &i)
			continue
		}
		j.builder.Part, j.builder.PartOf = i.Part, i.Ticks
		if j.builder.Largest = largestPart; !divides {
			j.builder.Largest = undivided
		}
		var err error
		if dst, full, err = j.add(dst, i.Ticks, i.Line); err != nil {
			return dst, true, err
		}
	}
	return dst, lines.Done(), nil
}

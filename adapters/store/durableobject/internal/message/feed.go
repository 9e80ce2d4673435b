package message

import (
	"bytes"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// FeedQuestion asks an object for the lines of a feed, in OpLines.
type FeedQuestion struct {
	Life table.Incarnation
	From edm.Ticks // the lines after it; or one of the following
	// Many: the feed has many ranges, so the object takes some care that positions are equal. See [Many].
	Many   bool
	Within key.Range
	// The answer ends after so many changes, or bytes.
	Changes, Bytes int
}

// Many reports whether a feed with so many ranges has many.
func Many(ranges int) bool { return ranges > 16 }

// The values of FeedQuestion.From that are no Timestamps.
const (
	FeedBegin   edm.Ticks = 0             // the first line, which must be kept
	FeedOldest  edm.Ticks = 1             // the first line that is kept
	FeedEnd     edm.Ticks = 1<<63 - 1     // none: only the position is asked for
	feedNumber            = 1<<31 - 1     // the most changes or bytes
	feedMany              = byte(1 << 0)  // flag
	leastItem             = 1 + 8 + 1     // bytes of a FeedItem, at least
	leastChange           = 1 + 8 + 1 + 1 // and of a change
)

// Lines appends the message OpLines.
func Lines(dst []byte, p *Destination, q *FeedQuestion) []byte {
	dst = append(beginAt(dst, OpLines, p), q.Life[:]...)
	flags := byte(0)
	if q.Many {
		flags = feedMany
	}
	dst = AppendBounds(append(appendUint64(dst, uint64(q.From)), flags), q.Within)
	return appendNumber(appendNumber(dst, uint64(min(max(q.Changes, 0), feedNumber))), uint64(min(max(q.Bytes, 0), feedNumber)))
}

// FeedQuestion reads the fields of the message after Destination.
func (r *Reader) FeedQuestion() FeedQuestion {
	return FeedQuestion{Life: r.Incarnation(), From: r.Ticks(), Many: r.Byte()&feedMany != 0, Within: r.Bounds(), Changes: r.Size(), Bytes: r.Size()}
}

// FeedState is what an object has of a feed.
type FeedState byte

// The states.
const (
	FeedKept    FeedState = iota // it has the lines
	FeedAbsent                   // it knows nothing of this incarnation
	FeedOff                      // the table keeps no feed
	FeedExpired                  // it has not all lines after the position any more
	FeedWaits                    // it does not have its keys yet
	FeedLeft                     // as FeedKept, and there will be no line after these: it gave its keys away
	FeedDropped                  // likewise: the table was dropped
)

// FeedAnswer begins the answer to OpLines. Items follow it.
type FeedAnswer struct {
	State FeedState
	More  bool      // a limit ended it
	Start edm.Ticks // the position before it
	Next  edm.Ticks // the position after it
	End   edm.Ticks // of FeedDropped: of the drop
	Keep  edm.Ticks
	// Parents are the ranges from which this one got keys, if the question was for FeedOldest; for FeedEnd those that left,
	// if it got the keys after Next.
	Parents []uint32
}

// AppendFeedAnswer appends the answer.
func AppendFeedAnswer(dst []byte, a *FeedAnswer) []byte {
	dst = appendBool(append(Done(dst), byte(a.State)), a.More)
	for _, t := range [...]edm.Ticks{a.Start, a.Next, a.End, a.Keep} {
		dst = appendUint64(dst, uint64(t))
	}
	dst = appendNumber(dst, uint64(len(a.Parents)))
	for _, id := range a.Parents {
		dst = appendNumber(dst, uint64(id))
	}
	return dst
}

// FeedAnswer reads the answer.
func (r *Reader) FeedAnswer() FeedAnswer {
	a := FeedAnswer{State: FeedState(r.Byte()), More: r.Bool(), Start: r.Ticks(), Next: r.Ticks(), End: r.Ticks(), Keep: r.Ticks()}
	n := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < n && r.OK(); i++ {
		a.Parents = append(a.Parents, r.ID())
	}
	return a
}

// FeedItem is a line of a feed in an answer.
type FeedItem struct {
	Kind    FeedKind
	Ticks   edm.Ticks
	Range   uint32    // of FeedGave, FeedBegan and FeedTook: the other range
	Cut     edm.Ticks // of FeedBegan and FeedTook: the lines of the other one up to here come first
	Line    []byte    // of FeedElsewhere: as it is stored
	Key     []byte    // of FeedElsewhere: of an entity of the other range
	Changes []table.FeedChange
}

// FeedKind is the kind of a FeedItem.
type FeedKind byte

// The kinds.
const (
	FeedCommit    FeedKind = iota // a commit with its changes
	FeedElsewhere                 // a commit of which another range has entities
	FeedGave                      // the range gave keys to another one, which begins here
	FeedBegan                     // the range began with keys of another one
	FeedTook                      // the range got all keys of another one, which left
)

// AppendFeedItem appends an item to an answer.
func AppendFeedItem(dst []byte, i *FeedItem) []byte {
	dst = appendUint64(append(dst, byte(i.Kind)), uint64(i.Ticks))
	switch i.Kind {
	case FeedElsewhere:
		dst = AppendBytes(AppendBytes(dst, i.Line), i.Key)
	case FeedGave, FeedBegan, FeedTook:
		return appendUint64(appendNumber(dst, uint64(i.Range)), uint64(i.Cut))
	}
	dst = appendNumber(dst, uint64(len(i.Changes)))
	for j := range i.Changes {
		c := &i.Changes[j]
		dst = AppendBytes(appendUint64(append(dst, byte(c.Kind)), uint64(c.Ended)), c.Key)
		if c.Row == nil {
			dst = append(dst, 0)
			continue
		}
		dst = AppendBytes(dst, table.AppendRow(nil, c.Row))
	}
	return dst
}

// FeedItem reads the next item, until Done. Its keys and rows share the memory of the message.
func (r *Reader) FeedItem() (i FeedItem) {
	i.Kind, i.Ticks = FeedKind(r.Byte()), r.Ticks()
	switch i.Kind {
	case FeedElsewhere:
		i.Line, i.Key = r.Bytes(), r.Bytes()
	case FeedGave, FeedBegan, FeedTook:
		i.Range, i.Cut = r.ID(), r.Ticks()
		return i
	case FeedCommit:
	default:
		r.bad = true
		return i
	}
	n := r.Number(uint64(len(r.rest) / leastChange))
	i.Changes = make([]table.FeedChange, 0, n)
	for range n {
		c := table.FeedChange{Kind: table.Kind(r.Byte()), Ended: r.Ticks(), Key: r.Bytes()}
		if v := r.Bytes(); v != nil {
			row, err := table.ParseRow(c.Key, v)
			r.bad = r.bad || err != nil
			c.Row = &row
		}
		if r.bad {
			return i
		}
		i.Changes = append(i.Changes, c)
	}
	return i
}

// Look appends the message OpLook. Items of the kind FeedElsewhere follow it, whose entities the object may have.
func Look(dst []byte, p *Destination, life table.Incarnation, first []byte, within key.Range) []byte {
	return AppendBounds(AppendBytes(append(beginAt(dst, OpLook, p), life[:]...), first), within)
}

// FeedRange is a range of a feed, and the position that it answered.
type FeedRange struct {
	Object
	At edm.Ticks
}

// Feeds appends the message OpFeeds: where the feed of a table is. From is how many of its objects are passed over, and
// ends says that they tell their positions.
func Feeds(dst []byte, key string, from int, ends bool) []byte {
	return appendBool(appendNumber(Key(dst, OpFeeds, key), uint64(from)), ends)
}

// FeedMap is the answer to OpFeeds.
type FeedMap struct {
	Life   table.Incarnation
	Layout Layout
	Sum    uint64 // of all objects: another one if there are others
	All    int    // how many
	Ranges []FeedRange
	Done   []Object // ranges that left, of which the feed needs nothing
}

// AppendFeedMap appends the answer.
func AppendFeedMap(dst []byte, m *FeedMap) []byte {
	dst = AppendLayout(append(Done(dst), m.Life[:]...), m.Layout)
	dst = appendNumber(appendNumber(appendUint64(dst, m.Sum), uint64(m.All)), uint64(len(m.Ranges)))
	for _, r := range m.Ranges {
		dst = appendUint64(appendNumber(appendNumber(dst, uint64(r.Bucket)), uint64(r.Range)), uint64(r.At))
	}
	return AppendObjects(dst, m.Done)
}

// FeedMap reads the answer.
func (r *Reader) FeedMap() (m FeedMap) {
	m.Life, m.Layout, m.Sum, m.All = r.Incarnation(), r.Layout(), r.Uint64(), r.Size()
	n := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < n && r.OK(); i++ {
		m.Ranges = append(m.Ranges, FeedRange{Object{Bucket: r.Bucket(), Range: r.ID()}, r.Ticks()})
	}
	m.Done = r.Objects()
	m.Layout.Location = string(bytes.Clone([]byte(m.Layout.Location)))
	return m
}

// LifeOf appends the message OpLife: what became of an incarnation of a table.
func LifeOf(dst []byte, key string, life table.Incarnation) []byte {
	return append(Key(dst, OpLife, key), life[:]...)
}

// The answers to OpLife.
const (
	LifeLive     byte = iota // FeedMap without positions follows
	LifeEnded                // it was dropped, or never was
	LifeRestored             // the table was restored
)

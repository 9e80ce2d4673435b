package message

import (
	"bytes"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// FeedQuestion holds the fields of OpLines, which asks an object for lines of a feed.
type FeedQuestion struct {
	Life table.Incarnation
	From edm.Ticks // asks for the lines after this Timestamp, or is one of FeedBegin, FeedOldest and FeedEnd
	// If the flag Many is set, the feed has many ranges. The object then prefers a position that other ranges are
	// likely to have too, because equal positions are encoded in few bytes.
	Many   bool
	Within key.Range
	// Changes and Bytes limit the size of the answer; 0 means no limit.
	Changes, Bytes int
	// Divides is set if the reader understands items of the kind FeedPart. A reader with an earlier version of the code
	// does not.
	Divides bool
	Part    int // the number of changes that the reader has of the first commit after From; 0 if it has none of them
}

// Many reports whether a feed with this number of ranges has many ranges: see FeedQuestion.Many.
func Many(ranges int) bool { return ranges > 16 }

// The values of FeedQuestion.From that are not Timestamps, and limits of the encoding.
const (
	FeedBegin   edm.Ticks = 0             // from the first line, which must not have been removed
	FeedOldest  edm.Ticks = 1             // from the first line that is kept
	FeedEnd     edm.Ticks = 1<<63 - 1     // no lines, only the position at the end of the feed
	feedNumber            = 1<<31 - 1     // the maximum of Changes and of Bytes
	feedMany              = byte(1 << 0)  // the flag for the field Many
	feedDivides           = byte(1 << 1)  // the flag for the field Divides
	feedRest              = byte(1 << 2)  // the field Part follows
	leastItem             = 1 + 8 + 1     // the minimal size of a FeedItem in bytes
	leastChange           = 1 + 8 + 1 + 1 // the minimal size of a change in bytes
)

// Lines appends the message OpLines.
func Lines(dst []byte, p *Destination, q *FeedQuestion) []byte {
	dst = append(beginAt(dst, OpLines, p), q.Life[:]...)
	flags := byte(0)
	if q.Many {
		flags |= feedMany
	}
	if q.Divides {
		flags |= feedDivides
	}
	if q.Part > 0 {
		flags |= feedRest
	}
	dst = AppendBounds(append(appendUint64(dst, uint64(q.From)), flags), q.Within)
	dst = appendNumber(appendNumber(dst, uint64(min(max(q.Changes, 0), feedNumber))), uint64(min(max(q.Bytes, 0), feedNumber)))
	if q.Part > 0 {
		dst = appendNumber(dst, uint64(q.Part))
	}
	return dst
}

// FeedQuestion reads the fields of the message after Destination.
func (r *Reader) FeedQuestion() FeedQuestion {
	q := FeedQuestion{Life: r.Incarnation(), From: r.Ticks()}
	flags := r.Byte()
	q.Many, q.Divides = flags&feedMany != 0, flags&feedDivides != 0
	q.Within, q.Changes, q.Bytes = r.Bounds(), r.Size(), r.Size()
	if flags&feedRest != 0 {
		q.Part = r.Size()
	}
	return q
}

// FeedState is the state of a feed in one object.
type FeedState byte

// The values of FeedState.
const (
	FeedKept    FeedState = iota // no line that the reader needs is missing
	FeedAbsent                   // the object knows nothing of this incarnation
	FeedOff                      // the table keeps no feed
	FeedExpired                  // some lines after the position were removed
	FeedWaits                    // the object cannot answer yet: it is being filled, or a restore has returned it to an earlier state
	FeedLeft                     // no line is missing, and no more lines will follow, because the range handed all its keys over
	FeedDropped                  // no line is missing, and no more lines will follow, because the table was dropped
)

// FeedAnswer begins the answer to OpLines. Items follow it.
type FeedAnswer struct {
	State FeedState
	More  bool      // whether a limit ended the answer
	Start edm.Ticks // the position before the lines in the answer
	Next  edm.Ticks // the position after the lines in the answer
	End   edm.Ticks // with FeedDropped: the Timestamp of the drop
	Keep  edm.Ticks
	// Parents are further ranges that the reader must read. If the question was FeedOldest, they are all ranges
	// from which this range got keys. If the question was FeedEnd, they are the ranges that merged into this
	// range after the position in the field Next.
	Parents []uint32
}

// AppendFeedAnswer appends the beginning of the answer to OpLines.
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

// FeedAnswer reads the beginning of the answer to OpLines.
func (r *Reader) FeedAnswer() FeedAnswer {
	a := FeedAnswer{State: FeedState(r.Byte()), More: r.Bool(), Start: r.Ticks(), Next: r.Ticks(), End: r.Ticks(), Keep: r.Ticks()}
	n := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < n && r.OK(); i++ {
		a.Parents = append(a.Parents, r.ID())
	}
	return a
}

// FeedItem is an item in the answer of a feed. It is a line (a commit) or a Mark, which records that keys
// moved.
type FeedItem struct {
	Kind  FeedKind
	Ticks edm.Ticks
	Range uint32    // only of FeedGave, FeedBegan and FeedTook: the other range
	Cut   edm.Ticks // only of FeedBegan and FeedTook: a reader needs the other range's lines up to this Timestamp before the lines after this item
	Line  []byte    // only of FeedElsewhere and FeedPart: the line, in its stored form
	// Key is the key of an entity that the answering range does not have. An item of the kind FeedPart has a key only
	// if there is such an entity. In OpLook, Key is not empty if the sender understands items of the kind FeedPart.
	Key []byte
	// These fields are set for an item of the kind FeedPart. Part is the number of changes of the commit that the
	// reader has with this item, or 0 if it has all of them. In OpLook, it is the number that the reader has without
	// the answer. All is the number of changes of the whole commit.
	Part, All int
	Changes   []table.FeedChange
}

// FeedKind is the kind of a FeedItem.
type FeedKind byte

// The values of FeedKind.
const (
	FeedCommit    FeedKind = iota // a commit with its changes
	FeedElsewhere                 // a commit with entities that another range has now
	FeedGave                      // the range handed some of its keys over to a new range
	FeedBegan                     // the range is new, and got its keys from another range
	FeedTook                      // the range got all keys of another range, which then ceased to exist
	FeedPart                      // a part of a commit, or a commit with changes that the reader did not ask for
)

// IsCommit reports whether the item is a commit or a part of one.
func (i *FeedItem) IsCommit() bool {
	return i.Kind == FeedCommit || i.Kind == FeedElsewhere || i.Kind == FeedPart
}

// IsElsewhere reports whether the item is a commit with entities that another range has.
func (i *FeedItem) IsElsewhere() bool {
	return i.Kind == FeedElsewhere || i.Kind == FeedPart && len(i.Key) > 0
}

// AppendFeedItem appends an item to an answer.
func AppendFeedItem(dst []byte, i *FeedItem) []byte {
	dst = appendUint64(append(dst, byte(i.Kind)), uint64(i.Ticks))
	switch i.Kind {
	case FeedPart:
		dst = appendNumber(appendNumber(dst, uint64(i.Part)), uint64(i.All))
		fallthrough
	case FeedElsewhere:
		dst = AppendBytes(AppendBytes(dst, i.Line), i.Key)
	case FeedGave, FeedBegan, FeedTook:
		return appendUint64(appendNumber(dst, uint64(i.Range)), uint64(i.Cut))
	}
	dst = appendNumber(dst, uint64(len(i.Changes)))
	for j := range i.Changes {
		c := &i.Changes[j]
		if i.Kind == FeedPart {
			dst = appendNumber(dst, uint64(c.Index))
		}
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
	case FeedPart:
		i.Part, i.All = r.Size(), r.Size()
		fallthrough
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
	for j := range n {
		index := int(j) + 1
		if i.Kind == FeedPart {
			index = r.Size()
		}
		c := table.FeedChange{Index: index, Kind: table.Kind(r.Byte()), Ended: r.Ticks(), Key: r.Bytes()}
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

// Look appends the message OpLook. The caller then appends items of the kinds FeedElsewhere and FeedPart. The receiver
// probably has the entities of these items.
func Look(dst []byte, p *Destination, incarnation table.Incarnation, first []byte, within key.Range) []byte {
	return AppendBounds(AppendBytes(append(beginAt(dst, OpLook, p), incarnation[:]...), first), within)
}

// FeedRange is a range of a feed and a position in its lines.
type FeedRange struct {
	Object
	At edm.Ticks
}

// Feeds appends the message OpFeeds, which asks for the objects that have the feed of a table. If ends is set, it
// also asks for the positions at the end of the feed in some of them, beginning with the object whose index is from.
func Feeds(dst []byte, key string, from int, ends bool) []byte {
	return appendBool(appendNumber(Key(dst, OpFeeds, key), uint64(from)), ends)
}

// FeedMap is the answer to OpFeeds.
type FeedMap struct {
	Life   table.Incarnation
	Layout Layout
	Sum    uint64 // a hash of the list of all objects, by which a change of the list is noticed
	All    int    // the number of all objects that have the feed
	Ranges []FeedRange
	Done   []Object // ranges that ceased to exist, and whose lines the reader does not need
}

// AppendFeedMap appends the answer to OpFeeds.
func AppendFeedMap(dst []byte, m *FeedMap) []byte {
	dst = AppendLayout(append(Done(dst), m.Life[:]...), m.Layout)
	dst = appendNumber(appendNumber(appendUint64(dst, m.Sum), uint64(m.All)), uint64(len(m.Ranges)))
	for _, r := range m.Ranges {
		dst = appendUint64(appendNumber(appendNumber(dst, uint64(r.Bucket)), uint64(r.Range)), uint64(r.At))
	}
	return AppendObjects(dst, m.Done)
}

// FeedMap reads the answer to OpFeeds.
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

// LifeOf appends the message OpLife, which asks whether an incarnation of a table still exists.
func LifeOf(dst []byte, key string, incarnation table.Incarnation) []byte {
	return append(Key(dst, OpLife, key), incarnation[:]...)
}

// The answers to OpLife.
const (
	LifeLive     byte = iota // the incarnation exists, and the FeedMap lists its objects
	LifeEnded                // the incarnation was dropped, or never existed
	LifeRestored             // the table was restored, and has another incarnation
)

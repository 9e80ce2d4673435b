package message

import (
	"bytes"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// FeedQuestion contains the fields of OpLines, which requests lines of a feed from an object.
type FeedQuestion struct {
	Life table.Incarnation
	From edm.Ticks // the Timestamp after which the lines begin, or one of FeedBegin, FeedOldest and FeedEnd
	// ManyRanges means that the feed has many ranges. The object then prefers positions that other ranges share,
	// because these are encoded in few bytes.
	ManyRanges bool
	Range      key.Range
	// Changes and Bytes limit the size of the answer; 0 means no limit.
	Changes, Bytes int
	// Divides means that the reader understands items of the kind FeedPart. Readers of earlier versions do not.
	Divides bool
	Part    int // how many changes of the first commit after From the reader already has
}

// HasManyRanges reports whether a feed with the given number of ranges has many ranges: see FeedQuestion.ManyRanges.
func HasManyRanges(ranges int) bool { return ranges > 16 }

// Values of FeedQuestion.From that are not Timestamps, and limits and flags of the encoding.
const (
	FeedBegin   edm.Ticks = 0         // the first line, which must not have been removed
	FeedOldest  edm.Ticks = 1         // the first line that was not removed
	FeedEnd     edm.Ticks = 1<<63 - 1 // no line: the answer has only the position at the end of the feed
	feedNumber            = 1<<31 - 1 // the maximum of Changes and Bytes
	feedMany              = byte(1 << 0)
	feedDivides           = byte(1 << 1)
	feedRest              = byte(1 << 2)  // the flag of the field Part
	leastItem             = 1 + 8 + 1     // the minimum size of a FeedItem in bytes
	leastChange           = 1 + 8 + 1 + 1 // the minimum size of a change in bytes
)

// Lines appends the message OpLines.
func Lines(dst []byte, p *Destination, q *FeedQuestion) []byte {
	dst = append(beginAt(dst, OpLines, p), q.Life[:]...)
	flags := byte(0)
	if q.ManyRanges {
		flags |= feedMany
	}
	if q.Divides {
		flags |= feedDivides
	}
	if q.Part > 0 {
		flags |= feedRest
	}
	dst = AppendBounds(append(appendUint64(dst, uint64(q.From)), flags), q.Range)
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
	q.ManyRanges, q.Divides = flags&feedMany != 0, flags&feedDivides != 0
	q.Range, q.Changes, q.Bytes = r.Bounds(), r.Size(), r.Size()
	if flags&feedRest != 0 {
		q.Part = r.Size()
	}
	return q
}

// FeedState is the state of a feed in one object.
type FeedState byte

// The values of FeedState. In FeedLeft and FeedDropped, no line is missing.
const (
	FeedKept    FeedState = iota // no line that the reader needs is missing
	FeedAbsent                   // the object knows nothing of this incarnation
	FeedOff                      // the table has no feed
	FeedExpired                  // lines after the position were removed
	FeedWaits                    // the object cannot answer yet: it is being filled, or a restore has returned it to an earlier state
	FeedLeft                     // no more lines will follow, because the range handed over all its keys
	FeedDropped                  // no more lines will follow, because the table was dropped
)

// FeedAnswer is the beginning of the answer to OpLines. Items follow it.
type FeedAnswer struct {
	State     FeedState
	More      bool      // whether a limit ended the answer
	Start     edm.Ticks // the position before the lines of the answer
	Next      edm.Ticks // the position after the lines of the answer
	End       edm.Ticks // for FeedDropped, the Timestamp of the drop
	Retention edm.Ticks
	// Parents are further ranges to read. For FeedOldest, they are all ranges from which this range received keys. For
	// FeedEnd, they are the ranges that merged into it after Next.
	Parents []uint32
}

// AppendFeedAnswer appends the beginning of the answer to OpLines.
func AppendFeedAnswer(dst []byte, a *FeedAnswer) []byte {
	dst = appendBool(append(Done(dst), byte(a.State)), a.More)
	for _, t := range [...]edm.Ticks{a.Start, a.Next, a.End, a.Retention} {
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
	a := FeedAnswer{State: FeedState(r.Byte()), More: r.Bool(), Start: r.Ticks(), Next: r.Ticks(), End: r.Ticks(), Retention: r.Ticks()}
	n := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < n && r.OK(); i++ {
		a.Parents = append(a.Parents, r.ID())
	}
	return a
}

// FeedItem is an item in the answer of a feed: a line, or a mark that records that keys moved.
type FeedItem struct {
	Kind  FeedKind
	Ticks edm.Ticks
	Range uint32    // for FeedGave, FeedBegan and FeedTook, the other range
	Cut   edm.Ticks // for FeedBegan and FeedTook: the lines of the other range up to this Timestamp precede the lines after this item
	Line  []byte    // for FeedElsewhere and FeedPart, the line in its stored form
	// Key is the key of an entity that the answering range does not have. It is optional in FeedPart. In OpLook, a Key
	// means that the sender understands FeedPart.
	Key []byte
	// Part and All are set for FeedPart. Part is the number of changes that the reader has after this item, or 0 if it
	// has all. All is the number of changes of the commit.
	//
	// In OpLook, Part is the number of changes that the reader already has.
	Part, All int
	Changes   []table.FeedChange
}

// FeedKind is the kind of a FeedItem.
type FeedKind byte

const (
	FeedCommit    FeedKind = iota // a commit with its changes
	FeedElsewhere                 // a commit with entities that have moved to another range
	FeedGave                      // the range handed over some of its keys to a new range
	FeedBegan                     // the range is new, and received its keys from another range
	FeedTook                      // the range received all keys of another range, which then ceased to exist
	FeedPart                      // a part of a commit, or a commit that also has changes outside the request
)

// IsCommit reports whether the item is a commit or a part of one.
func (i *FeedItem) IsCommit() bool {
	return i.Kind == FeedCommit || i.Kind == FeedElsewhere || i.Kind == FeedPart
}

// IsElsewhere reports whether the item is a commit with entities that have moved to another range.
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
		dst = AppendBytes(appendUint64(append(dst, byte(c.Kind)), uint64(c.ExpiredAt)), c.Key)
		if c.Row == nil {
			dst = append(dst, 0)
			continue
		}
		dst = AppendBytes(dst, table.AppendRow(nil, c.Row))
	}
	return dst
}

// FeedItem reads the next item. The caller must call it until Done. The keys and rows of the item share the memory of
// the message.
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
		c := table.FeedChange{Index: index, Kind: table.Kind(r.Byte()), ExpiredAt: r.Ticks(), Key: r.Bytes()}
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

// Look appends the message OpLook. The caller must append items of the kinds FeedElsewhere and FeedPart, whose entities
// the receiver probably has.
func Look(dst []byte, p *Destination, incarnation table.Incarnation, first []byte, within key.Range) []byte {
	return AppendBounds(AppendBytes(append(beginAt(dst, OpLook, p), incarnation[:]...), first), within)
}

// FeedRange is a range of a feed and a position in its lines.
type FeedRange struct {
	Object
	At edm.Ticks
}

// Feeds appends the message OpFeeds, which requests the objects that have the feed of a table. If ends is true, it also
// requests the end of the feed in some objects, beginning with the given index.
func Feeds(dst []byte, key string, from int, ends bool) []byte {
	return appendBool(appendNumber(Key(dst, OpFeeds, key), uint64(from)), ends)
}

// FeedMap is the answer to OpFeeds.
type FeedMap struct {
	Life   table.Incarnation
	Layout Layout
	Sum    uint64 // a hash of the list of all objects, which shows whether the list has changed
	All    int    // the number of objects that have the feed
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

// LifeOf appends the message OpLife, which asks whether an incarnation of a table exists, was dropped, or was replaced
// by a restore.
func LifeOf(dst []byte, key string, incarnation table.Incarnation) []byte {
	return append(Key(dst, OpLife, key), incarnation[:]...)
}

// The answers to OpLife.
const (
	LifeLive     byte = iota // the incarnation exists, and the FeedMap lists its objects
	LifeEnded                // the incarnation was dropped, or never existed
	LifeRestored             // a restore gave the table another incarnation
)

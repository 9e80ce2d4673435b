package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// FeedLine writes the line of a commit in a feed, for stores that keep lines as bytes: for
// each mutation the kind, how many bytes its key shares with the one before, the length of
// the others, these, and of an [Expire] the instant at which the entity had ended.
type FeedLine struct {
	b    []byte
	last []byte
}

// Add adds a mutation that was applied.
func (l *FeedLine) Add(m *Mutation, e *Effect) {
	kind := m.Kind
	if kind == Merge {
		kind = Put
	}
	if l.b == nil {
		l.b = make([]byte, 0, 16+len(m.Key))
	}
	shared := 0
	for shared < min(len(l.last), len(m.Key)) && l.last[shared] == m.Key[shared] {
		shared++
	}
	l.b = append(l.b, byte(kind))
	l.b = binary.AppendUvarint(l.b, uint64(shared))
	l.b = binary.AppendUvarint(l.b, uint64(len(m.Key)-shared))
	l.b = append(l.b, m.Key[shared:]...)
	if kind == Expire {
		l.b = binary.BigEndian.AppendUint64(l.b, uint64(e.Ended))
	}
	l.last = m.Key
}

// Bytes returns the line.
func (l *FeedLine) Bytes() []byte { return l.b }

// feedDrop begins the line of a drop. The key of the table's record follows, as text.
const feedDrop = 0x10

// AppendFeedDrop appends the line of the drop of a table.
func AppendFeedDrop(dst []byte, t RecordKey) []byte {
	return append(append(dst, feedDrop), t.String()...)
}

// FeedDropOf returns the key of the table that a line drops; false: it is of a commit.
func FeedDropOf(line []byte) (t RecordKey, ok bool) {
	if len(line) == 0 || line[0] != feedDrop {
		return t, false
	}
	return ParseRecordKey(string(line[1:]))
}

var errFeedLine = errors.New("stored line of a feed is damaged")

// feedExamined is how many commits a page of a feed looks at.
const feedExamined = 10_000

// FeedBuilder decides what a page of a feed holds and where it ends, for all stores.
type FeedBuilder struct {
	Page FeedPage
	// Traits are those of the table at the instant Now.
	Traits *Traits
	Now    edm.Ticks
	// Read returns the entity with a key as it is stored, in memory of its own, or nil.
	Read func(key []byte) (*Row, error)

	request                 *FeedRequest
	changes, size, examined int
	key                     []byte
}

// NewFeedBuilder begins a page.
func NewFeedBuilder(r *FeedRequest) FeedBuilder { return FeedBuilder{request: r} }

// Add adds a commit by its line, and the position behind it. full says that the page ends
// behind it.
func (b *FeedBuilder) Add(ticks edm.Ticks, at, line []byte) (full bool, err error) {
	r := b.request
	if b.Page.Next.At = at; b.Traits.Feeds() {
		b.Page.Keep = b.Traits.Feed.Keep
	}
	b.examined++
	if _, dropped := FeedDropOf(line); dropped {
		b.Page.Commits = append(b.Page.Commits, FeedCommit{Ticks: ticks, At: at, Dropped: true})
		return true, nil
	}
	c := FeedCommit{Ticks: ticks, At: at}
	b.key = b.key[:0]
	for len(line) > 0 {
		change := FeedChange{Kind: Kind(line[0])}
		if line, err = b.parse(&change, line[1:]); err != nil {
			return false, err
		}
		if !r.Within.Contains(b.key) {
			continue
		}
		change.Key = append([]byte(nil), b.key...)
		b.size += len(change.Key)
		if change.Kind == Put {
			if err := b.join(&change, ticks); err != nil {
				return false, err
			}
		}
		c.Changes = append(c.Changes, change)
	}
	if len(c.Changes) > 0 {
		b.Page.Commits = append(b.Page.Commits, c)
		b.changes += len(c.Changes)
	}
	full = r.Changes > 0 && b.changes >= r.Changes || r.Bytes > 0 && b.size >= r.Bytes || b.examined >= feedExamined
	b.Page.More = full
	return full, nil
}

// parse reads what follows a kind, and the key into b.key.
func (b *FeedBuilder) parse(c *FeedChange, line []byte) (rest []byte, err error) {
	shared, n := binary.Uvarint(line)
	if n <= 0 || shared > uint64(len(b.key)) {
		return nil, errFeedLine
	}
	line = line[n:]
	length, n := binary.Uvarint(line)
	if n <= 0 || length > uint64(len(line)-n) {
		return nil, errFeedLine
	}
	b.key = append(b.key[:shared], line[n:n+int(length)]...)
	line = line[n+int(length):]
	switch c.Kind {
	case Put, Delete:
	case Expire:
		if len(line) < 8 {
			return nil, errFeedLine
		}
		c.Ended = edm.Ticks(binary.BigEndian.Uint64(line))
		line = line[8:]
	default:
		return nil, ErrNewerForm
	}
	return line, nil
}

// join adds the content of an entity that was put, unless it has another Timestamp by now.
// An entity that has ended and is stored still has its content: nobody else would show it to
// whoever reads the feed if the rule is withdrawn.
func (b *FeedBuilder) join(c *FeedChange, ticks edm.Ticks) error {
	row, err := b.Read(c.Key)
	if err != nil || row == nil || row.Timestamp != ticks {
		return err
	}
	c.Row = row
	b.size += len(row.Properties)
	if b.Traits.Ended(row, b.Now) {
		c.Ended = b.Traits.endedAt(row, b.Now)
	}
	return nil
}

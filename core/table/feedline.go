package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// FeedLine encodes the line of a commit in a feed, for stores that keep lines as bytes. For
// each mutation it has the kind, the number of bytes that the key shares with the previous
// key, the number of remaining bytes, and these bytes. For an [Expire], the instant at which
// the entity ended follows.
type FeedLine struct {
	b    []byte
	last []byte
}

// Add adds a mutation that was applied and its effect.
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

// Bytes returns the encoded line.
func (l *FeedLine) Bytes() []byte { return l.b }

// feedDrop is the first byte of the line of a drop. The key of the table's record follows,
// as text.
const feedDrop = 0x10

// AppendFeedDrop appends the line for the drop of a table.
func AppendFeedDrop(dst []byte, t RecordKey) []byte {
	return append(append(dst, feedDrop), t.String()...)
}

// FeedDropOf returns the key of the table that a line drops. ok is false if the line is that
// of a commit.
func FeedDropOf(line []byte) (t RecordKey, ok bool) {
	if len(line) == 0 || line[0] != feedDrop {
		return t, false
	}
	return ParseRecordKey(string(line[1:]))
}

var errFeedLine = errors.New("stored line of a change feed is damaged")

// feedExamined is the maximum number of commits that are examined for a page of a feed.
const feedExamined = 10_000

// FeedBuilder builds a page of a feed. All stores use it, so that the limits of a page mean the same everywhere.
type FeedBuilder struct {
	Page FeedPage
	// Traits are the traits of the table at the instant Now.
	Traits *Traits
	Now    edm.Ticks
	// Read returns the stored entity with a key, or nil. The caller owns its memory.
	Read func(key []byte) (*Row, error)

	request                 *FeedRequest
	changes, size, examined int
	key                     []byte
}

// NewFeedBuilder returns a builder for an empty page.
func NewFeedBuilder(r *FeedRequest) FeedBuilder { return FeedBuilder{request: r} }

// Add adds a commit, given its line and the position after it. full reports that the page
// ends after this commit.
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

// parse decodes the bytes of a mutation after its kind, and stores the key in b.key.
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

// join adds the content of the entity to a change, unless the stored entity has another Timestamp
// by now. It also adds the content if the entity has ended and is still stored: if the rule of
// expiry is withdrawn, the entity exists again, and no later change of the feed would show it.
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

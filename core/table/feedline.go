package table

import (
	"cmp"
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// FeedLine encodes one commit of a change feed as a line of bytes. Each mutation consists of
//
//   - the kind
//   - the number of key bytes shared with the previous key
//   - the number of remaining key bytes, and the bytes
//   - for [Expire], the instant at which the entity expired
type FeedLine struct {
	b    []byte
	last []byte
}

// Add appends an applied mutation and its effect to the line.
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
		l.b = binary.BigEndian.AppendUint64(l.b, uint64(e.ExpiredAt))
	}
	l.last = m.Key
}

// Bytes returns the line.
func (l *FeedLine) Bytes() []byte { return l.b }

// feedDrop is the first byte of a line that records the drop of a table. The rest of the line is the record key of the
// table, as text.
const feedDrop = 0x10

// AppendFeedDrop appends a line that records the drop of a table.
func AppendFeedDrop(dst []byte, t RecordKey) []byte {
	return append(append(dst, feedDrop), t.String()...)
}

// FeedDropOf returns the record key of the dropped table. ok is false if the line records a commit instead of a drop.
func FeedDropOf(line []byte) (t RecordKey, ok bool) {
	if len(line) == 0 || line[0] != feedDrop {
		return t, false
	}
	return ParseRecordKey(string(line[1:]))
}

var errFeedLine = errors.New("stored line of a change feed is damaged")

// feedExamined is the maximum number of commits that a page of a feed examines.
const feedExamined = 10_000

// FeedBuilder builds a page of a feed. All stores use it, so the limits of a page have the same meaning in all stores.
type FeedBuilder struct {
	Page FeedPage
	// Traits are the traits of the table at the instant Now.
	Traits *Traits
	Now    edm.Ticks
	// Read returns the stored entity with a key, or nil if there is none. The result must not share memory with the
	// store.
	Read func(key []byte) (*Row, error)
	// Part is 0 unless the page begins inside a commit. Then Part is the number of the commit's changes on earlier
	// pages, and PartOf is the Timestamp of the commit.
	Part   int
	PartOf edm.Ticks
	// Largest is the number of bytes of keys and properties after which a commit is divided; 0 means [LargestPart].
	Largest int

	request                 *FeedRequest
	changes, size, examined int
	key                     []byte
}

// NewFeedBuilder returns a builder for an empty page.
func NewFeedBuilder(r *FeedRequest) FeedBuilder { return FeedBuilder{request: r} }

// Add adds a commit, in the form of [FeedLine], to the page. positionAfter(n) returns the position after the first n
// changes, and positionAfter(0) the position after the whole commit. If the result isFull is true, the page must end.
func (b *FeedBuilder) Add(ticks edm.Ticks, positionAfter func(part int) []byte, line []byte) (isFull bool, err error) {
	r := b.request
	if b.Traits.Feeds() {
		b.Page.Retention = b.Traits.Feed.Keep
	}
	b.examined++
	if _, dropped := FeedDropOf(line); dropped {
		b.Page.Next.At = positionAfter(0)
		b.Page.Commits = append(b.Page.Commits, FeedCommit{Ticks: ticks, At: b.Page.Next.At, Dropped: true})
		return true, nil
	}
	c := FeedCommit{Ticks: ticks, After: positionAfter}
	begin, size, part := b.Part, b.size, 0
	if ticks != b.PartOf {
		begin = 0
	}
	b.key, b.Part = b.key[:0], 0
	for i := 0; len(line) > 0; i++ {
		change := FeedChange{Kind: Kind(line[0])}
		if line, err = b.parse(&change, line[1:]); err != nil {
			return false, err
		}
		if !r.Within.Contains(b.key) {
			continue
		}
		if c.All++; i < begin || part > 0 {
			continue
		}
		change.Key, change.Index = append([]byte(nil), b.key...), i+1
		if change.Kind == Put {
			if err := b.join(&change, ticks); err != nil {
				return false, err
			}
		}
		b.size += change.Size()
		c.Changes = append(c.Changes, change)
		if b.size-size >= cmp.Or(b.Largest, LargestPart) && len(line) > 0 {
			part = i + 1
		}
	}
	isFull = b.count(len(c.Changes)) || part > 0
	if b.Page.More = isFull; isFull || len(c.Changes) > 0 {
		c.At = positionAfter(part)
		b.Page.Next.At = c.At
	}
	if len(c.Changes) > 0 {
		b.Page.Commits = append(b.Page.Commits, c)
	}
	return isFull, nil
}

// count counts changes towards the limits of the page. It reports whether the page has reached a limit.
func (b *FeedBuilder) count(changes int) bool {
	r := b.request
	b.changes += changes
	return r.Changes > 0 && b.changes >= r.Changes || r.Bytes > 0 && b.size >= r.Bytes || b.examined >= feedExamined
}

// parse decodes the mutation that follows a kind byte, and stores its key in b.key.
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
		c.ExpiredAt = edm.Ticks(binary.BigEndian.Uint64(line))
		line = line[8:]
	default:
		return nil, ErrNewerForm
	}
	return line, nil
}

// join adds the stored entity to a change, unless the entity has been written again. It adds even an expired entity,
// which reappears without another change if its rule is withdrawn.
func (b *FeedBuilder) join(c *FeedChange, ticks edm.Ticks) error {
	row, err := b.Read(c.Key)
	if err != nil || row == nil || row.Timestamp != ticks {
		return err
	}
	c.Row = row
	if b.Traits.Ended(row, b.Now) {
		c.ExpiredAt = b.Traits.expiredAt(row, b.Now)
	}
	return nil
}

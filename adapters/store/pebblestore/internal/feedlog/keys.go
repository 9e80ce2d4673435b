// Package feedlog defines the keys and values of the change feeds of tables, and reads and trims the feeds.
//
//	space · incarnation · 0              key of the head of a feed, see Head
//	space · incarnation · number         key of the line for the commit with this number
package feedlog

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Space is the first byte of all keys of change feeds.
const Space = 0x03

const prefix = 1 + len(table.Incarnation{})

// Length is the length of a key of a change feed.
const Length = prefix + 8

// AppendKey appends the key of the line for commit n to dst. If n is 0, it appends the key of the head.
func AppendKey(dst []byte, i table.Incarnation, n edm.Ticks) []byte {
	dst = append(dst, Space)
	dst = append(dst, i[:]...)
	return binary.BigEndian.AppendUint64(dst, uint64(n))
}

// ParseKey is the inverse of AppendKey.
func ParseKey(k []byte) (i table.Incarnation, n edm.Ticks, ok bool) {
	if len(k) != Length || k[0] != Space {
		return i, 0, false
	}
	copy(i[:], k[1:])
	return i, edm.Ticks(binary.BigEndian.Uint64(k[prefix:])), true
}

// endOfFeed returns the smallest key above all keys of a change feed.
func endOfFeed(i table.Incarnation) []byte { return append(AppendKey(nil, i, -1), 0) }

// Bounds returns the key range of a change feed, for an iterator or a compaction.
func Bounds(i table.Incarnation) (from, to []byte) { return AppendKey(nil, i, 0), endOfFeed(i) }

// Head is stored with the lines of a change feed. It contains the number up to which the feed was trimmed, and the
// retention time of the lines.
type Head struct {
	// Floor is the number of the last removed line. If no line was removed, Floor is the number of the commit that began the feed.
	Floor edm.Ticks
	Keep  edm.Ticks
}

var errHead = errors.New("the record that describes a change feed is damaged")

// Append appends the stored form of the head to dst.
func (h Head) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.Floor))
	return binary.BigEndian.AppendUint64(dst, uint64(h.Keep))
}

// ParseHead is the inverse of Append.
func ParseHead(b []byte) (h Head, err error) {
	if len(b) != 16 {
		return h, errHead
	}
	return Head{edm.Ticks(binary.BigEndian.Uint64(b)), edm.Ticks(binary.BigEndian.Uint64(b[8:]))}, nil
}

// Size returns an estimate of the bytes that all change feeds use in data files.
func Size(db *pebble.DB) int64 {
	n, err := db.EstimateDiskUsage([]byte{Space}, []byte{Space + 1})
	if err != nil {
		return 0 // a file is damaged; operations that read the file report the damage
	}
	return int64(n)
}

// Find returns the head of a change feed.
func Find(from pebble.Reader, i table.Incarnation) (h Head, ok bool, err error) {
	v, closer, err := from.Get(AppendKey(make([]byte, 0, Length), i, 0))
	if errors.Is(err, pebble.ErrNotFound) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	h, err = ParseHead(v)
	return h, true, errors.Join(err, closer.Close())
}

// Remove removes a change feed, including its head.
func Remove(b *pebble.Batch, i table.Incarnation) error {
	return b.DeleteRange(AppendKey(nil, i, 0), endOfFeed(i), nil)
}

// Trim removes the lines up to a number from a change feed. The parameter last is the content of the last of these
// lines. If that line records a drop of the table, Trim removes the whole feed.
func Trim(b *pebble.Batch, i table.Incarnation, h Head, upTo edm.Ticks, last []byte) error {
	if _, dropped := table.FeedDropOf(last); dropped {
		return Remove(b, i)
	}
	h.Floor = upTo
	return errors.Join(
		b.Set(AppendKey(nil, i, 0), h.Append(nil), nil),
		b.DeleteRange(AppendKey(nil, i, 1), AppendKey(nil, i, upTo+1), nil))
}

// Lines returns an iterator over the lines of a change feed with numbers in (above, upTo].
func Lines(from pebble.Reader, i table.Incarnation, above, upTo edm.Ticks) (*pebble.Iterator, error) {
	return from.NewIter(&pebble.IterOptions{LowerBound: AppendKey(nil, i, above+1), UpperBound: AppendKey(nil, i, upTo+1)})
}

// Last returns the last line whose number is at most upTo, and the number of this line. If there is no such line, n is
// 0.
func Last(from pebble.Reader, i table.Incarnation, upTo edm.Ticks) (n edm.Ticks, line []byte, err error) {
	it, err := Lines(from, i, 0, upTo)
	if err != nil {
		return 0, nil, err
	}
	if it.Last() {
		var v []byte
		_, n, _ = ParseKey(it.Key())
		v, err = it.ValueAndErr()
		line = append([]byte(nil), v...)
	}
	return n, line, errors.Join(err, it.Error(), it.Close())
}

// Feeds returns the incarnations that have a change feed.
func Feeds(from pebble.Reader) (list []table.Incarnation, err error) {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: []byte{Space}, UpperBound: []byte{Space + 1}})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; {
		i, _, is := ParseKey(it.Key())
		if !is {
			ok = it.Next()
			continue
		}
		list = append(list, i)
		ok = it.SeekGE(endOfFeed(i))
	}
	return list, errors.Join(it.Error(), it.Close())
}

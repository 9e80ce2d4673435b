package transfer

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/functions/edgetable/remote"
)

// segment is a range that may be split. Its first key is at lo; no key is at or
// above hi, if there is a hi.
type segment struct {
	Range
	lo, hi string
	whole  bool // it cannot be split
}

// smallTable is the number of entities below which a table is not split.
const smallTable = 1000

// Split divides a table into about so many ranges in the order of their keys, or
// into one if it is small or cannot be divided. The ranges are the whole table;
// they are small where entities can pass the filter. It looks for keys in the
// middle between known keys, with queries for one entity each. The same table
// is split in the same way each time.
func Split(ctx context.Context, c *remote.Client, table, filter string, want int) ([]Range, error) {
	within := bounds(filter)
	whole := segment{}
	if within.To != "" {
		beyond, ok, err := whole.find(ctx, c, table, " gt ", within.To)
		if err != nil {
			return nil, err
		}
		if ok {
			whole.hi = beyond
			within.To = beyond
		}
	}
	n := 0
	for e, err := range c.Entities(ctx, remote.Query{Table: table, Filter: within.Filter(), Select: []string{partitionKey}, Top: smallTable + 1}) {
		if err != nil {
			return nil, err
		}
		if n++; n == 1 {
			whole.lo = strings.Clone(e.PartitionKey)
		}
	}
	whole.whole = n <= smallTable
	segments := []segment{whole}
	for len(segments) < want {
		parts := make([][]segment, len(segments))
		g, ctx := errgroup.WithContext(ctx)
		for i, s := range segments {
			if s.whole {
				parts[i] = []segment{s}
				continue
			}
			g.Go(func() (err error) {
				parts[i], err = s.split(ctx, c, table)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		before := len(segments)
		segments = segments[:0]
		for _, p := range parts {
			segments = append(segments, p...)
		}
		if len(segments) == before {
			break
		}
	}
	ranges := make([]Range, len(segments))
	for i, s := range segments {
		ranges[i] = s.Range
	}
	return ranges, nil
}

// bounds returns a range with all partitions that can pass a filter. To may be
// one of them, or "" for no bound.
func bounds(filter string) (r Range) {
	f, err := odata.Parse(filter)
	if err != nil { // the service reports the mistake, or knows more functions
		return Range{}
	}
	ranges := odata.MakePlan(f).Ranges
	if len(ranges) == 0 {
		return Range{}
	}
	partition := func(k []byte) string {
		p, _ := key.Split(k)
		return strings.TrimRight(key.DecodePart(p), "\x01") // a place after the key
	}
	return Range{From: partition(ranges[0].Start), To: partition(ranges[len(ranges)-1].End)}
}

// find returns the first key that matches comparisons, within the segment's
// partition if it is one of rows.
func (s *segment) find(ctx context.Context, c *remote.Client, table, op, bound string) (found string, ok bool, err error) {
	q := remote.Query{Table: table, Select: []string{s.name()}, Top: 1, Filter: s.name() + op + Quote(bound)}
	if s.hi != "" {
		q.Filter += " and " + s.name() + " lt " + Quote(s.hi)
	}
	if s.Rows {
		q.Filter = "PartitionKey eq " + Quote(s.Partition) + " and " + q.Filter
	}
	for e, err := range c.Entities(ctx, q) {
		if s.Rows {
			return strings.Clone(e.RowKey), true, err
		}
		return strings.Clone(e.PartitionKey), true, err
	}
	return "", false, nil
}

func (s *segment) name() string {
	if s.Rows {
		return rowKey
	}
	return partitionKey
}

// maxProbes bounds the queries for one split. Each
// probe halves the part that is left.
const maxProbes = 24

// split divides a segment into two, or one of a single partition by its rows.
func (s segment) split(ctx context.Context, c *remote.Client, table string) ([]segment, error) {
	next, ok, err := s.find(ctx, c, table, " gt ", s.lo)
	switch {
	case err != nil:
		return nil, err
	case !ok && s.Rows:
		s.whole = true
		return []segment{s}, nil
	case !ok:
		return s.rows(ctx, c, table)
	}
	at := next
	probe := s
	for range maxProbes {
		middle, ok := between(probe.lo, probe.hi)
		if !ok {
			break
		}
		found, ok, err := probe.find(ctx, c, table, " ge ", middle)
		if err != nil {
			return nil, err
		}
		if ok {
			at = found
			break
		}
		probe.hi = middle
	}
	left, right := s, s
	left.To, left.hi = at, at
	right.From, right.After, right.lo, right.hi = at, "", at, probe.hi
	return []segment{left, right}, nil
}

// rows makes segments of the rows of a segment's only partition. Those beside it
// are for new partitions.
func (s segment) rows(ctx context.Context, c *remote.Client, table string) ([]segment, error) {
	in := segment{Range: Range{Partition: s.lo, Rows: true}}
	first, ok, err := in.find(ctx, c, table, " ge ", "")
	if err != nil {
		return nil, err
	}
	in.lo, in.whole = first, !ok
	var list []segment
	if s.From != s.lo {
		list = append(list, segment{Range: Range{From: s.From, After: s.After, To: s.lo}, whole: true})
	}
	return append(list, in, segment{Range: Range{To: s.To}.after(s.lo), whole: true}), nil
}

// between returns a text between two keys, about in their middle if their
// characters are ASCII. An empty hi is no bound.
func between(lo, hi string) (string, bool) {
	a, b := []rune(lo), []rune(hi)
	var head []rune
	for i, bounded := 0, hi != ""; i <= len(a)+1; i++ {
		least, most := rune(firstCharacter-1), rune(utf8.MaxRune+1)
		if i < len(a) {
			least = a[i]
		}
		if bounded && i < len(b) {
			most = b[i]
		} else if bounded {
			return "", false // hi is the beginning of lo: they are in no order
		}
		if least == most {
			head = append(head, least)
			continue
		}
		middle := legal((least + most) / 2)
		if most > lastASCII && least < lastASCII {
			middle = lastASCII
		}
		if middle > least && middle < most {
			m := string(head) + string(middle)
			if key.Compare(lo, m) < 0 && (hi == "" || key.Compare(m, hi) < 0) {
				return m, true
			}
		}
		if i >= len(a) { // nothing is between the end of lo and hi's character
			return "", false
		}
		head, bounded = append(head, least), false
	}
	return "", false
}

const (
	firstCharacter = ' '
	lastASCII      = '~'
)

// legal returns a character that a key may have, at or a little above r.
func legal(r rune) rune {
	switch {
	case r == '/' || r == '\\' || r == '#' || r == '?':
		return r + 1
	case r > lastASCII && r < 0xA0:
		return 0xA0
	case r >= 0xD800 && r < 0xE000:
		return 0xE000
	}
	return r
}

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

// smallTable is the number of entities below which a table is not split.
const smallTable = 1000

// Split divides a table into about so many ranges in the order of their keys, or
// into one if it is small or cannot be divided. The ranges are the whole table;
// they are small where entities can pass the filter. It looks for keys in the
// middle between known keys, with queries for one entity each. The same table
// is split in the same way each time.
func Split(ctx context.Context, c *remote.Client, table, filter string, want int) ([]Range, error) {
	whole := Range{}
	least, most := bounds(filter)
	var within []string
	if least != "" {
		within = append(within, "PartitionKey ge "+Quote(least))
	}
	if most != "" {
		beyond, ok, err := (&axis{}).find(ctx, c, table, " gt ", most)
		if err != nil {
			return nil, err
		}
		if ok {
			whole.High = Key{Partition: beyond}
			within = append(within, "PartitionKey lt "+Quote(beyond))
		}
	}
	n, first := 0, Key{}
	for e, err := range c.Entities(ctx, remote.Query{Table: table, Filter: strings.Join(within, " and "), Select: []string{partitionKey, rowKey}, Top: smallTable + 1}) {
		if err != nil {
			return nil, err
		}
		if n++; n == 1 {
			first = Key{e.PartitionKey, e.RowKey}.clone()
		}
	}
	if n <= smallTable {
		return []Range{whole}, nil
	}
	type piece struct {
		Range
		first Key
		whole bool // it cannot be divided
	}
	pieces := []piece{{whole, first, false}}
	for len(pieces) < want {
		halves := make([][]piece, len(pieces))
		g, ctx := errgroup.WithContext(ctx)
		for i, p := range pieces {
			halves[i] = []piece{p}
			if p.whole {
				continue
			}
			g.Go(func() error {
				left, right, ok, err := p.divide(ctx, c, table, p.first)
				if ok {
					halves[i] = []piece{{left, p.first, false}, {right, right.From, false}}
				} else {
					halves[i][0].whole = true
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		before := len(pieces)
		pieces = pieces[:0]
		for _, list := range halves {
			pieces = append(pieces, list...)
		}
		if len(pieces) == before {
			break
		}
	}
	ranges := make([]Range, len(pieces))
	for i, p := range pieces {
		ranges[i] = p.Range
	}
	return ranges, nil
}

// bounds returns the least and the greatest partition that can pass a filter, ""
// for none.
func bounds(filter string) (least, most string) {
	f, err := odata.Parse(filter)
	if err != nil { // the service reports the mistake, or knows more functions
		return "", ""
	}
	ranges := odata.MakePlan(f).Ranges
	if len(ranges) == 0 {
		return "", ""
	}
	partition := func(k []byte) string {
		p, _ := key.Split(k)
		return strings.TrimRight(key.DecodePart(p), "\x01") // a place after the key
	}
	return partition(ranges[0].Start), partition(ranges[len(ranges)-1].End)
}

// divide divides a range, whose first entity is at or behind a key, in about the
// middle: between two partitions, or between two rows if it has one.
func (r Range) divide(ctx context.Context, c *remote.Client, table string, first Key) (left, right Range, ok bool, err error) {
	cut := func(at, high Key) (Range, Range, bool, error) {
		left, right := r, r
		left.To, left.High, right.From, right.After = at, Key{}, at, false
		if (high != Key{}) {
			right.High = high
		}
		return left, right, true, nil
	}
	end := r.end()
	rows := axis{rows: true, partition: first.Partition, lo: first.Row}
	if end.Row != "" && end.Partition == first.Partition {
		rows.hi = end.Row
	} else {
		partitions := axis{lo: first.Partition, hi: end.Partition}
		at, high, ok, err := partitions.middle(ctx, c, table)
		switch {
		case err != nil:
			return r, r, false, err
		case ok:
			return cut(Key{Partition: at}, Key{Partition: high})
		case r.To.Row != "": // its head is the other partition of the range
			return cut(Key{Partition: r.To.Partition}, Key{})
		}
	}
	at, high, ok, err := rows.middle(ctx, c, table)
	if err != nil || !ok {
		return r, r, false, err
	}
	k := Key{}
	if high != "" {
		k = Key{first.Partition, high}
	}
	return cut(Key{first.Partition, at}, k)
}

// axis is what a range is divided along: partitions, or the rows of one.
type axis struct {
	rows      bool
	partition string // of the rows
	lo, hi    string // no key is below lo; none is at or above hi, if there is a hi
}

// find returns the first key that matches a comparison.
func (a *axis) find(ctx context.Context, c *remote.Client, table, op, bound string) (found string, ok bool, err error) {
	name := partitionKey
	if a.rows {
		name = rowKey
	}
	q := remote.Query{Table: table, Select: []string{name}, Top: 1, Filter: name + op + Quote(bound)}
	if a.hi != "" {
		q.Filter += " and " + name + " lt " + Quote(a.hi)
	}
	if a.rows {
		q.Filter = "PartitionKey eq " + Quote(a.partition) + " and " + q.Filter
	}
	for e, err := range c.Entities(ctx, q) {
		if a.rows {
			return strings.Clone(e.RowKey), true, err
		}
		return strings.Clone(e.PartitionKey), true, err
	}
	return "", false, nil
}

// maxProbes bounds the queries for one division. Each probe halves the remaining
// part.
const maxProbes = 24

// middle finds a key above lo, about in the middle, and a bound of the keys above
// it.
func (a axis) middle(ctx context.Context, c *remote.Client, table string) (at, high string, ok bool, err error) {
	if a.rows && a.lo == "" {
		if a.lo, ok, err = a.find(ctx, c, table, " ge ", ""); err != nil || !ok {
			return "", "", false, err
		}
	}
	at, ok, err = a.find(ctx, c, table, " gt ", a.lo)
	if err != nil || !ok {
		return "", "", false, err
	}
	if a.hi, err = a.ceiling(ctx, c, table); err != nil {
		return "", "", false, err
	}
	for range maxProbes {
		middle, ok := between(a.lo, a.hi)
		if !ok {
			break
		}
		found, ok, err := a.find(ctx, c, table, " ge ", middle)
		if err != nil {
			return "", "", false, err
		}
		if ok {
			at = found
			break
		}
		a.hi = middle
	}
	return at, a.hi, true, nil
}

// ceiling lowers hi to the longest beginning that lo has in common with all keys
// above it, and a last character.
func (a *axis) ceiling(ctx context.Context, c *remote.Client, table string) (string, error) {
	lo := []rune(a.lo)
	best := a.hi
	for least, most := 0, len(lo); least <= most; {
		n := (least + most) / 2
		top := string(lo[:n]) + string(rune(lastASCII))
		if best == "" || key.Compare(top, best) < 0 {
			_, ok, err := a.find(ctx, c, table, " ge ", top)
			if err != nil {
				return "", err
			}
			if ok {
				most = n - 1
				continue
			}
			best = top
		}
		least = n + 1
	}
	return best, nil
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

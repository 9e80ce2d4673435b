package ranges

import (
	"context"
	"strings"
	"unicode/utf8"

	"edgetable/adapters/client/remote"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Prober returns the first key that matches a query. If no key matches, the second result is false. The Prober sets the
// table of the query.
type Prober func(ctx context.Context, q remote.Query) (k Key, ok bool, err error)

// Probes returns a Prober for a table of a service.
func Probes(c *remote.Client, table string) Prober {
	return func(ctx context.Context, q remote.Query) (Key, bool, error) {
		q.Table, q.Top = table, 1
		for e, err := range c.Entities(ctx, q) {
			return Key{e.PartitionKey, e.RowKey}.Clone(), err == nil, err
		}
		return Key{}, false, nil
	}
}

// WholeTable returns the range of a whole table. If the filter limits the keys, the High of the range is the first key
// above this limit, if there is one. WholeTable fails if the table does not exist.
func WholeTable(ctx context.Context, probe Prober, filter string) (r Range, err error) {
	beyond := ""
	if most := greatest(filter); most != "" {
		beyond = "PartitionKey" + " gt " + Quote(most)
	}
	k, ok, err := probe(ctx, remote.Query{Select: []string{"PartitionKey", "RowKey"}, Filter: beyond})
	if ok && beyond != "" {
		r.High.Partition = k.Partition
	}
	return r, err
}

// greatest returns an upper bound of the PartitionKeys that match a filter, or "" if there is none.
func greatest(filter string) string {
	f, err := odata.Parse(filter)
	if err != nil { // the filter is invalid, or has a function that is unknown here; the service reports an invalid filter
		return ""
	}
	ranges := odata.MakePlan(f).Ranges
	if len(ranges) == 0 {
		return ""
	}
	partition, _ := key.Split(ranges[len(ranges)-1].End)
	// A range may end just after a key. This position is represented by the key with a suffix, which is removed here.
	return strings.TrimRight(key.DecodePart(partition), "\x01")
}

// Divide divides a range near its middle, between two partitions. If the range has only one partition, it divides
// between two rows. The argument first must not be above the first key of the range.
func (r Range) Divide(ctx context.Context, probe Prober, first Key) (left, right Range, ok bool, err error) {
	cut := func(at, high Key) (Range, Range, bool, error) {
		left, right := r, r
		left.To, left.High, right.From, right.After = at, Key{}, at, false
		if (high != Key{}) {
			right.High = high
		}
		return left, right, true, nil
	}
	end := r.End()
	rows := axis{rows: true, partition: first.Partition, lo: first.Row}
	if end.Row != "" && end.Partition == first.Partition {
		rows.hi = end.Row
	} else {
		partitions := axis{lo: first.Partition, hi: end.Partition}
		at, high, ok, err := partitions.middle(ctx, probe)
		switch {
		case err != nil:
			return r, r, false, err
		case ok:
			return cut(Key{Partition: at}, Key{Partition: high})
		case r.To.Row != "": // the range contains one partition and the first rows of the next: divide between the two
			return cut(Key{Partition: r.To.Partition}, Key{})
		}
	}
	at, high, ok, err := rows.middle(ctx, probe)
	if err != nil || !ok {
		return r, r, false, err
	}
	k := Key{}
	if high != "" {
		k = Key{first.Partition, high}
	}
	return cut(Key{first.Partition, at}, k)
}

// axis is the list of keys at which a range can be divided: PartitionKeys, or the RowKeys of a partition.
type axis struct {
	rows      bool
	partition string // PartitionKey of the list if it contains RowKeys
	lo, hi    string // bounds of the list: lo <= key < hi; if hi is "", there is no upper bound
}

// find returns the first key of the list for which the comparison with bound is true. The parameter op is the operator
// of the comparison, such as " ge ".
func (a *axis) find(ctx context.Context, probe Prober, op, bound string) (found string, ok bool, err error) {
	name := "PartitionKey"
	if a.rows {
		name = "RowKey"
	}
	q := remote.Query{Select: []string{name}, Filter: name + op + Quote(bound)}
	if a.hi != "" {
		q.Filter += " and " + name + " lt " + Quote(a.hi)
	}
	if a.rows {
		q.Filter = "PartitionKey eq " + Quote(a.partition) + " and " + q.Filter
	}
	k, ok, err := probe(ctx, q)
	if a.rows {
		return k.Row, ok, err
	}
	return k.Partition, ok, err
}

// maxProbes is the maximum number of queries in a division. Each query halves the remaining keys.
const maxProbes = 24

// middle returns a key above lo, near the middle of the list. It also returns an upper bound of the list, or "" if none
// is known.
func (a axis) middle(ctx context.Context, probe Prober) (at, high string, ok bool, err error) {
	if a.rows && a.lo == "" {
		if a.lo, ok, err = a.find(ctx, probe, " ge ", ""); err != nil || !ok {
			return "", "", false, err
		}
	}
	at, ok, err = a.find(ctx, probe, " gt ", a.lo)
	if err != nil || !ok {
		return "", "", false, err
	}
	if a.hi == "" {
		if a.hi, err = a.ceiling(ctx, probe); err != nil {
			return "", "", false, err
		}
	}
	for range maxProbes {
		middle, ok := textBetween(a.lo, a.hi)
		if !ok {
			break
		}
		found, ok, err := a.find(ctx, probe, " ge ", middle)
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

// ceiling returns an upper bound of the list: the longest prefix of lo that, followed by the character ~, is above all
// keys.
func (a *axis) ceiling(ctx context.Context, probe Prober) (string, error) {
	lo := []rune(a.lo)
	best := a.hi
	for least, most := 0, len(lo); least <= most; {
		n := (least + most) / 2
		top := string(lo[:n]) + string(rune(lastASCII))
		if best == "" || key.Compare(top, best) < 0 {
			_, ok, err := a.find(ctx, probe, " ge ", top)
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

// textBetween returns a string between lo and hi, near the middle if both are ASCII. If hi is "", there is no upper
// bound.
func textBetween(lo, hi string) (string, bool) {
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
			return "", false // hi is a prefix of lo, so no key is between them
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
		if i >= len(a) { // no legal character is below the next character of hi, so no string is between lo and hi
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

// legal returns r if a key may contain this character. Otherwise it returns the next higher character that a key may
// contain.
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

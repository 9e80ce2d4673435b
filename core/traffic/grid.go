package traffic

import (
	"bytes"
	"slices"

	"edgetable/core/edm"
)

// These metrics are counted for each key range and for each partition.
const (
	reads = iota
	writes
	scanned
	throttled
	metrics
)

// Metrics holds the names of the metrics, in the order of their constants.
var Metrics = [metrics]string{"reads", "writes", "scanned", "throttled"}

const (
	ranges      = 256
	minuteSlots = 120
	quarters    = 7 * 24 * 4
	minute      = 60 * edm.TicksPerSecond
	quarter     = 15 * minute
	sampleSize  = 512
)

// cells holds the counts of one period, by key range and metric.
type cells [ranges][metrics]uint32

// add adds the counts in o to c. A sum that would overflow becomes the maximum.
func (c *cells) add(o *cells) {
	for r := range o {
		for m, n := range o[r] {
			increase(&c[r][m], int(n))
		}
	}
}

// grid is a matrix of request counts: a row is a range of keys, and a column a minute or a quarter of an hour. The
// ranges adapt to the traffic: busy ranges become smaller.
type grid struct {
	bounds       [][]byte // start of each range except the first, in ascending order
	open         cells    // counts since the last full minute
	sum          cells    // counts of the full minutes in the current quarter of an hour
	at           edm.Ticks
	minutes      []Column // columns of minutes in ascending order of time
	quarters     []Column
	sample       [][]byte
	seen, random uint64
	touched      bool // whether a request was counted since the last full minute
}

// Column holds the traffic of one minute or one quarter of an hour.
type Column struct {
	At    edm.Ticks `json:"at"`
	Cells []byte    `json:"cells"` // counts, as encoded by the method pack
}

func (g *grid) find(k []byte) int { return find(g.bounds, k) }

func find(bounds [][]byte, k []byte) int {
	lo, hi := 0, len(bounds)
	for lo < hi {
		mid := (lo + hi) / 2
		if bytes.Compare(bounds[mid], k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// add increases the count of the range that contains the encoded key k by n. It may also put k into the random sample
// from which new ranges are chosen.
func (g *grid) add(k []byte, metric int, n int) {
	g.touched = true
	increase(&g.open[g.find(k)][metric], n)
	g.seen++
	i := g.seen - 1
	if i >= sampleSize {
		if i = g.next() % g.seen; i >= sampleSize {
			return
		}
		g.sample[i] = append(g.sample[i][:0], cut(k)...)
		return
	}
	g.sample = append(g.sample, bytes.Clone(cut(k)))
}

// next returns a pseudo-random number of an xorshift generator.
func (g *grid) next() uint64 {
	g.random ^= g.random << 13
	g.random ^= g.random >> 7
	g.random ^= g.random << 17
	return g.random
}

func cut(k []byte) []byte { return k[:min(len(k), maxName)] }

// increase adds n to a count. A sum that would overflow becomes the maximum.
func increase(to *uint32, n int) {
	if sum := uint64(*to) + uint64(max(n, 0)); sum < 1<<32 {
		*to = uint32(sum)
	} else {
		*to = 1<<32 - 1
	}
}

// spread adds n to the counts of the ranges between two encoded keys, with an equal part for each range.
func (g *grid) spread(from, to []byte, metric, n int) {
	g.touched = true
	first, last := g.find(from), len(g.bounds)
	if to != nil {
		last = max(first, g.find(to))
		if last > first && bytes.Equal(g.bounds[last-1], to) {
			last--
		}
	}
	width := last - first + 1
	for i := first; i <= last; i++ {
		part := n / width
		if i-first < n%width {
			part++
		}
		increase(&g.open[i][metric], part)
	}
}

// tick advances the clock to now. When a minute or a quarter of an hour with requests has ended, it adds a column for
// this minute or quarter.
func (g *grid) tick(now edm.Ticks) {
	at := now - now%minute
	if at == g.at {
		return
	}
	was := g.at
	g.at = at
	if g.touched {
		g.minutes = append(g.minutes, Column{was, g.open.pack()})
		g.sum.add(&g.open)
		g.open, g.touched = cells{}, false
	}
	if was-was%quarter != at-at%quarter {
		if g.sum != (cells{}) {
			g.quarters = append(g.quarters, Column{was - was%quarter, g.sum.pack()})
		}
		g.sum = cells{}
	}
	g.minutes = recent(g.minutes, at-minuteSlots*minute)
	g.quarters = recent(g.quarters, at-quarters*quarter)
	g.adapt()
	if was-was%quarter != at-at%quarter {
		g.sample, g.seen = g.sample[:0], 0
	}
}

// recent removes the columns of periods that began before the time from.
func recent(list []Column, from edm.Ticks) []Column {
	return slices.DeleteFunc(list, func(c Column) bool { return c.At < from })
}

// adapt chooses new ranges if one range contains too much of the sample: more than a 25th of all sampled keys, and at
// least two different keys.
func (g *grid) adapt() {
	count := make([]int, len(g.bounds)+1)
	first := make([][]byte, len(g.bounds)+1)
	several := make([]bool, len(g.bounds)+1)
	uneven := false
	for _, k := range g.sample {
		i := g.find(k)
		if count[i]++; count[i] == 1 {
			first[i] = k
		}
		several[i] = several[i] || !bytes.Equal(first[i], k)
		uneven = uneven || several[i] && count[i] > len(g.sample)/25
	}
	if !uneven {
		return
	}
	if chosen := g.choose(); !slices.EqualFunc(chosen, g.bounds, bytes.Equal) {
		g.convert(chosen)
	}
}

// choose returns the bounds of new ranges: it cuts the sample and the old bounds, sorted by key, into ranges of about
// equal weight.
func (g *grid) choose() [][]byte {
	type point struct {
		key    []byte
		weight int
	}
	var list []point
	for _, k := range g.sample {
		list = append(list, point{k, len(g.bounds) + 1})
	}
	// The old bounds get about half of all weight. With the sample alone, no bounds would remain among keys with little
	// traffic.
	for _, k := range g.bounds {
		list = append(list, point{k, len(g.sample)})
	}
	slices.SortFunc(list, func(a, b point) int { return bytes.Compare(a.key, b.key) })
	total, distinct := 0, 0
	for i, p := range list {
		total += p.weight
		if i == 0 || !bytes.Equal(p.key, list[i-1].key) {
			distinct++
		}
	}
	var chosen [][]byte
	sum := 0
	for i, p := range list {
		step := sum * ranges / total
		sum += p.weight
		again := len(chosen) > 0 && bytes.Equal(chosen[len(chosen)-1], p.key)
		if again || i > 0 && bytes.Equal(p.key, list[i-1].key) && distinct >= ranges && step == sum*ranges/total {
			continue
		}
		if len(chosen) < ranges-1 && (distinct < ranges || step != sum*ranges/total) {
			chosen = append(chosen, bytes.Clone(p.key))
		}
	}
	return chosen
}

// convert replaces the ranges of the grid. It divides the count of each old range evenly among the new ranges that
// overlap it.
func (g *grid) convert(bounds [][]byte) {
	m := mapping(g.bounds, bounds)
	g.open, g.sum = g.open.convert(m), g.sum.convert(m)
	for _, list := range [][]Column{g.minutes, g.quarters} {
		for i := range list {
			if c, ok := unpack(list[i].Cells); ok {
				c = c.convert(m)
				list[i].Cells = c.pack()
			}
		}
	}
	g.bounds = bounds
}

// mapping returns, for each old range, the first and the last of the new ranges that overlap it.
func mapping(before, after [][]byte) [][2]int {
	m := make([][2]int, len(before)+1)
	for i := range m {
		m[i] = [2]int{0, len(after)}
		if i > 0 {
			m[i][0] = find(after, before[i-1])
		}
		if i < len(before) {
			last := find(after, before[i])
			if last > m[i][0] && bytes.Equal(after[last-1], before[i]) {
				last--
			}
			m[i][1] = last
		}
	}
	return m
}

func (c *cells) convert(m [][2]int) (n cells) {
	for i, to := range m {
		width := to[1] - to[0] + 1
		for metric, count := range c[i] {
			for j := to[0]; j <= to[1] && count > 0; j++ {
				part := int(count) / width
				if j-to[0] < int(count)%width {
					part++
				}
				increase(&n[j][metric], part)
			}
		}
	}
	return n
}

package buckets

import (
	"bytes"
	"math"
	"slices"

	"edgetable/core/key"
)

const (
	// unlimited is how many rows are asked for where nothing limits them.
	unlimited = 1 << 20
	// guessedRow is the size of a row in bytes until some were read.
	guessedRow = 1 << 10
	// leastBytes is what a read of a shared range asks for at least if so much is
	// needed: less saves nothing, as stores charge by pages of some KiB. With a
	// filter that is leastFiltered, as most of it may not match.
	leastBytes    = 4 << 10
	leastFiltered = 32 << 10
	// first is how much of its part each stream reads at first. More of it saves
	// reads where partitions are short; where all rows are in one long partition
	// it is read in vain.
	first = 1.1
	// caution and residue are where the simulation in the tests met both targets
	// for partitions of every length; more reads fewer times and more in vain.
	caution = 0.3
	residue = 0.4
	// A page that took more reads than patience a bucket reads on with haste
	// times more caution for each further read a bucket: some pages would take
	// two reads more.
	patience = 1.3
	haste    = 20
)

// plan makes the next wave: the reads without which the merge cannot go on, and
// others only where they save waiting and can waste little.
//
// What comes at the same time shares the budget of bytes, however large rows are: so
// of several streams only the one that the merge needs now is sure of a row.
func (s *scan) plan() {
	s.wave = s.wave[:0]
	s.choose()
	size, rows := s.o.ReadBytes, unlimited
	if s.req.ScanBytes > 0 {
		left := s.left() / len(s.wave)
		row := s.rowBytes()
		if s.cost.Rows == 0 {
			row *= 2 // a guess: rather too little at first than far beyond the budget
		}
		size, rows = min(size, max(left, 1)), ceil(float64(left)/row)
	}
	for i := range s.wave {
		f := &s.wave[i]
		f.limit.Bytes, f.limit.Rows = size, min(f.limit.Rows, rows)
		f.limit.Strict = len(s.wave) > 1 && (i > 0 || s.looked || !f.stream.alone && f.stream.fresh)
	}
}

// choose asks the streams of the wave for rows.
func (s *scan) choose() {
	if s.looked {
		for _, st := range s.order {
			s.ask(st, 1)
		}
		return
	}
	front := s.order[0]
	need := s.need()
	switch {
	case front.alone:
		s.ask(front, need+1)
		s.ahead(need)
	case front.fresh:
		live := s.live(front)
		for _, st := range s.order[:live] {
			s.ask(st, max(first*need/float64(live), s.least(need)))
		}
	default:
		n := max(s.share(front, need+1), s.least(need))
		s.ask(front, n)
		s.along(front, need-n)
	}
}

// along adds the reads of streams that will run out next, if more rows are
// needed than all streams hold: that is so where few match a filter.
func (s *scan) along(front *stream, spare float64) {
	if s.o.FanOut < 2 {
		return
	}
	scale := s.scale()
	var next []*stream
	for _, st := range s.order[1:] {
		if st.part == front.part {
			spare -= float64(len(st.rows)) * scale
			next = append(next, st)
		}
	}
	if spare <= 0 {
		return
	}
	slices.SortFunc(next, func(a, b *stream) int { return bytes.Compare(a.rest.Start, b.rest.Start) })
	for _, st := range next {
		n := max(s.share(st, spare), s.least(spare))
		if spare < n || len(s.wave) == s.o.FanOut {
			return
		}
		if st.open && !st.heavy && 2*float64(len(st.rows))*scale < n {
			s.ask(st, n)
			spare -= n
		}
	}
}

// least is how many rows a read of a shared range is for at least.
func (s *scan) least(need float64) float64 {
	if s.req.Filter != nil {
		return leastFiltered / s.rowBytes() // need is a guess
	}
	return min(need+1, leastBytes/s.rowBytes())
}

// live is how many streams of the range have something left to read.
func (s *scan) live(of *stream) int {
	n := 0
	for _, st := range s.order {
		if st.part == of.part && st.open {
			n++
		}
	}
	return n
}

// share is how many of the next need rows of a shared range a stream will have:
// the rest of the partition it is in, and of what follows that, as much as any
// stream has.
//
// The partition is taken to go on for residue of what was seen of it: the longer
// it is already, the longer it may be. What follows is spread by the hash,
// partition by partition: caution times its standard deviation is read on top.
func (s *scan) share(st *stream, need float64) float64 {
	length := float64(s.cost.Rows) / (float64(s.ends) + 0.5)
	rest := min(need, residue*float64(st.run)*s.scale()+min(length, 16))
	live := float64(s.live(st))
	others := (need - rest) / live
	late := max(float64(s.cost.Reads)/float64(s.count)-patience, 0)
	return min(need, rest+others+caution*(1+haste*late)*math.Sqrt(others*length))
}

// ahead adds the reads of the partitions that come next, as in a filter that
// names a hundred entities: together they ask for no more than is needed.
func (s *scan) ahead(need float64) {
	width := s.o.FanOut
	if width < 2 {
		return
	}
	each := need / float64(width-1)
	spare := need
	if s.order[0].point {
		each, spare = max(each, 1), need-1
	}
	for _, st := range s.order[1:] {
		if len(s.wave) == width || !st.alone || spare <= 0 {
			return
		}
		if st.fresh {
			n := each
			if st.point {
				n = 1
			}
			s.ask(st, min(n, spare))
			spare -= n
			continue
		}
		if spare -= float64(len(st.rows)); st.open {
			return
		}
	}
}

// ask adds a read of n rows to the wave.
func (s *scan) ask(st *stream, n float64) {
	if st.point {
		n = 1
	}
	s.wave = append(s.wave, fetch{stream: st, r: st.rest, limit: Limit{
		Rows:        ceil(n),
		Filter:      s.req.Filter,
		Consistency: s.req.Consistency,
	}})
}

// ceil is n as a number of rows.
func ceil(n float64) int { return int(math.Ceil(min(max(n, 1), unlimited))) }

// left is how much of the budget of bytes is left.
func (s *scan) left() int { return max(s.req.ScanBytes-s.cost.Bytes, 0) }

// need is how many rows are to be examined until the page is full, by what was
// learned of their size and of the filter. Reads that may end it are for one more,
// which tells whether there is a next page.
func (s *scan) need() float64 {
	need := float64(unlimited)
	if s.req.Rows > 0 {
		need = float64(s.req.Rows - len(s.page.Page.Rows))
	}
	if s.req.Bytes > 0 {
		// A little more, as a row too few costs another read.
		need = min(need, 1.1*float64(s.req.Bytes-s.page.Size())/s.rowBytes()+1)
	}
	if s.req.Filter != nil {
		// Half of the rows pass until some were judged; the Source may have
		// sorted out others before.
		need *= (float64(s.judged)*s.scale() + 2) / float64(len(s.page.Page.Rows)+1)
	}
	if s.req.ScanBytes > 0 {
		need = min(need, float64(s.left())/s.rowBytes())
	}
	return min(max(need, 1), unlimited)
}

// scale is how many rows the Source examined for each that it returned.
func (s *scan) scale() float64 { return float64(s.cost.Rows+1) / float64(s.visible+1) }

// rowBytes is the size of a row.
func (s *scan) rowBytes() float64 {
	if s.cost.Rows == 0 || s.cost.Bytes == 0 {
		return guessedRow
	}
	return float64(s.cost.Bytes) / float64(s.cost.Rows)
}

// isPoint reports whether at most one legal key is in a range, as in that of an
// entity: see [key.RowAfter].
func isPoint(r key.Range) bool {
	n := len(r.Start)
	return len(r.End) == n+1 && string(r.End[:n]) == string(r.Start) && r.End[n] <= ' ' && len(key.Partition(r.Start)) > 0
}

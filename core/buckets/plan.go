package buckets

import (
	"math"
	"slices"

	"edgetable/core/key"
)

const (
	// unlimited is the number of rows asked for if nothing limits them.
	unlimited = 1 << 20
	// guessedRow is the size assumed for a row until some were read.
	guessedRow = 1 << 10
	// leastBytes is the least that a read of a shared range asks for if so much is
	// needed: less saves nothing, as stores charge by pages of some KiB. With a filter it
	// is leastFiltered, as most rows may not match.
	leastBytes    = 4 << 10
	leastFiltered = 32 << 10
	// first is the first read of each stream in proportion to its part. More saves reads
	// if partitions are short, but wastes rows if all are in one long partition.
	first = 1.1
	// caution and residue met both targets for partitions of every length in the
	// simulation of the tests; higher values make fewer reads and waste more rows.
	caution = 0.3
	residue = 0.4
	// A page that took more than lateAfter reads per bucket is late: it has haste times more caution
	// for each further read per bucket; without it some pages would take two reads more.
	lateAfter = 1.3
	haste     = 20
)

// plan makes the next wave: the reads that the merge needs now, and others only if they
// save waiting and can waste little.
//
// Concurrent reads share the budget of bytes, however large rows are: of several streams
// only the one that the merge needs now is sure of a row.
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

// along adds the reads of streams that will run out next, if more rows are needed than all
// streams hold, as with a filter that few rows pass.
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
	slices.SortFunc(next, func(a, b *stream) int { return s.down.compare(s.down.begin(a.rest), s.down.begin(b.rest)) })
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

// least returns the fewest rows that a read of a shared range asks for.
func (s *scan) least(need float64) float64 {
	if s.req.Filter != nil {
		return leastFiltered / s.rowBytes() // need is a guess
	}
	return min(need+1, leastBytes/s.rowBytes())
}

// live returns the number of streams of the range that have something left to read.
func (s *scan) live(of *stream) int {
	n := 0
	for _, st := range s.order {
		if st.part == of.part && st.open {
			n++
		}
	}
	return n
}

// share estimates how many of the next need rows of a shared range are in a stream: the
// rest of its current partition, and an equal part of the rows after that.
//
// The rest of the partition is estimated as residue times the rows seen of it: a
// partition that is long already may be longer. The rows after it are spread by the hash,
// partition by partition: caution times their standard deviation is read on top.
func (s *scan) share(st *stream, need float64) float64 {
	length := float64(s.cost.Rows) / (float64(s.ends) + 0.5)
	rest := min(need, residue*float64(st.run)*s.scale()+min(length, 16))
	live := float64(s.live(st))
	others := (need - rest) / live
	late := max(float64(s.cost.Reads)/float64(s.count)-lateAfter, 0)
	return min(need, rest+others+caution*(1+haste*late)*math.Sqrt(others*length))
}

// ahead adds the reads of the next partitions, as for a filter that names a hundred
// entities. Together they ask for no more rows than needed.
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
		Descending:  s.req.Descending,
		Filter:      s.req.Filter,
		Consistency: s.req.Consistency,
	}})
}

// ceil rounds n up to a number of rows.
func ceil(n float64) int { return int(math.Ceil(min(max(n, 1), unlimited))) }

// left returns the rest of the budget of bytes.
func (s *scan) left() int { return max(s.req.ScanBytes-s.cost.Bytes, 0) }

// need estimates how many rows must be examined until the page is full, from their size
// and the filter's selectivity so far. A read that may end the page asks for one more,
// which shows whether there is a next page.
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

// scale returns how many rows the Source examined per row returned.
func (s *scan) scale() float64 { return float64(s.cost.Rows+1) / float64(s.visible+1) }

// rowBytes estimates the size of a row.
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

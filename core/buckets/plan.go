package buckets

import (
	"math"
	"slices"

	"edgetable/core/key"
)

const (
	// unlimited is the number of rows to request if there is no limit.
	unlimited = 1 << 20
	// guessedRow is the assumed size of a row in bytes until a row has been read.
	guessedRow = 1 << 10
	// leastBytes is the minimum size in bytes of a read of a range in several buckets, unless the page needs less.
	// Stores charge in units of some KiB, so smaller reads save nothing.
	leastBytes    = 4 << 10
	leastFiltered = 32 << 10
	// The first read of each stream requests its equal share of the page, multiplied by first. A higher factor saves
	// reads, but wastes rows if partitions are long.
	first = 1.1
	// caution and residue are factors in scan.share. Higher values save reads but waste rows. In the simulation in the
	// tests, these values suit all partition lengths.
	caution = 0.3
	residue = 0.4
	// After lateAfter reads per bucket, each further read per bucket raises caution by haste × caution. Otherwise some
	// pages would need two more reads.
	lateAfter = 1.3
	haste     = 20
)

// plan selects the reads of the next wave. It adds reads that are needed only later if they save a wave and waste few
// rows.
func (s *scan) plan() {
	s.wave = s.wave[:0]
	s.choose()
	// The reads share the byte budget equally. Only the read of the front stream (the stream at the smallest position) may
	// exceed its share, for a single large row.
	size, rows := s.o.ReadBytes, unlimited
	if s.req.ScanBytes > 0 {
		left := s.remainingBytes() / len(s.wave)
		row := s.rowBytes()
		if s.cost.Rows == 0 {
			row *= 2 // before the first row, double the guess: a read that is too small is better than a read far over the budget
		}
		size, rows = min(size, max(left, 1)), ceil(float64(left)/row)
	}
	for i := range s.wave {
		f := &s.wave[i]
		f.limit.Bytes, f.limit.Rows = size, min(f.limit.Rows, rows)
		f.limit.Strict = len(s.wave) > 1 && (i > 0 || s.looked || !f.stream.alone && f.stream.fresh)
	}
}

func (s *scan) choose() {
	if s.looked {
		for _, st := range s.order {
			s.addRead(st, 1)
		}
		return
	}
	front := s.order[0]
	need := s.need()
	switch {
	case front.alone:
		s.addRead(front, need+1)
		s.addFollowingReads(need)
	case front.fresh:
		live := s.liveStreams(front)
		for _, st := range s.order[:live] {
			s.addRead(st, max(first*need/float64(live), s.minRows(need)))
		}
	default:
		n := max(s.share(front, need+1), s.minRows(need))
		s.addRead(front, n)
		s.addParallelReads(front, need-n)
	}
}

// addParallelReads adds reads of other streams that will soon have no rows in memory, if the page needs more rows than
// are in memory (as with a filter that matches few rows).
func (s *scan) addParallelReads(front *stream, spare float64) {
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
	slices.SortFunc(next, func(a, b *stream) int { return s.down.compare(s.down.startOf(a.rest), s.down.startOf(b.rest)) })
	for _, st := range next {
		n := max(s.share(st, spare), s.minRows(spare))
		if spare < n || len(s.wave) == s.o.FanOut {
			return
		}
		if st.open && !st.heavy && 2*float64(len(st.rows))*scale < n {
			s.addRead(st, n)
			spare -= n
		}
	}
}

// minRows returns the minimum number of rows in a read of a range that lies in several buckets.
func (s *scan) minRows(need float64) float64 {
	if s.req.Filter != nil {
		return leastFiltered / s.rowBytes() // the filter makes the number of missing rows uncertain
	}
	return min(need+1, leastBytes/s.rowBytes())
}

// liveStreams returns how many streams of the range of the given stream have unread rows.
func (s *scan) liveStreams(of *stream) int {
	n := 0
	for _, st := range s.order {
		if st.part == of.part && st.open {
			n++
		}
	}
	return n
}

// share estimates how many of the missing rows of a page will come from the stream st. need is the number of missing
// rows, all in one range that lies in several buckets. The estimate is the sum of three numbers:
//
//   - The rest of the current partition: residue × the rows read in this partition, plus the average length of a
//     partition (at most 16).
//   - The stream's equal share of all other rows.
//   - A margin: caution × the standard deviation of this share, because the hash distributes whole partitions.
func (s *scan) share(st *stream, need float64) float64 {
	length := float64(s.cost.Rows) / (float64(s.ends) + 0.5)
	rest := min(need, residue*float64(st.run)*s.scale()+min(length, 16))
	live := float64(s.liveStreams(st))
	others := (need - rest) / live
	late := max(float64(s.cost.Reads)/float64(s.count)-lateAfter, 0)
	return min(need, rest+others+caution*(1+haste*late)*math.Sqrt(others*length))
}

// addFollowingReads adds reads of later ranges, for example if a filter names a hundred entities. Together they request
// at most the rows that the page needs.
func (s *scan) addFollowingReads(need float64) {
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
			s.addRead(st, min(n, spare))
			spare -= n
			continue
		}
		if spare -= float64(len(st.rows)); st.open {
			return
		}
	}
}

// addRead adds a read of n rows to the wave. If the range can hold at most one row, it adds a read of one row.
func (s *scan) addRead(st *stream, n float64) {
	if st.point {
		n = 1
	}
	s.wave = append(s.wave, rangeRead{stream: st, r: st.rest, limit: Limit{
		Rows:        ceil(n),
		Descending:  s.req.Descending,
		Filter:      s.req.Filter,
		Consistency: s.req.Consistency,
	}})
}

func ceil(n float64) int { return int(math.Ceil(min(max(n, 1), unlimited))) }

func (s *scan) remainingBytes() int { return max(s.req.ScanBytes-s.cost.Bytes, 0) }

// need estimates how many more rows must be examined to fill the page, from the average row size and the selectivity of
// the filter so far.
func (s *scan) need() float64 {
	need := float64(unlimited)
	if s.req.Rows > 0 {
		need = float64(s.req.Rows - len(s.page.Page.Rows))
	}
	if s.req.Bytes > 0 {
		// Request a tenth more, because a missing row would cost another read.
		need = min(need, 1.1*float64(s.req.Bytes-s.page.Size())/s.rowBytes()+1)
	}
	if s.req.Filter != nil {
		// Until a row has been examined, assume that half of the rows match. Multiply s.judged by s.scale() to include
		// the rows that the Source has filtered out.
		need *= (float64(s.judged)*s.scale() + 2) / float64(len(s.page.Page.Rows)+1)
	}
	if s.req.ScanBytes > 0 {
		need = min(need, float64(s.remainingBytes())/s.rowBytes())
	}
	return min(max(need, 1), unlimited)
}

// scale returns the number of rows that the Source has examined per returned row.
func (s *scan) scale() float64 { return float64(s.cost.Rows+1) / float64(s.visible+1) }

func (s *scan) rowBytes() float64 {
	if s.cost.Rows == 0 || s.cost.Bytes == 0 {
		return guessedRow
	}
	return float64(s.cost.Bytes) / float64(s.cost.Rows)
}

// isPoint reports whether a range can hold at most one valid key, like the range of a single entity; see
// [key.RowAfter].
func isPoint(r key.Range) bool {
	n := len(r.Start)
	return len(r.End) == n+1 && string(r.End[:n]) == string(r.Start) && r.End[n] <= ' ' && len(key.Partition(r.Start)) > 0
}

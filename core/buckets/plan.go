package buckets

import (
	"math"
	"slices"

	"edgetable/core/key"
)

const (
	// unlimited is the number of rows to request if nothing limits this number.
	unlimited = 1 << 20
	// guessedRow is the assumed size of a row in bytes, until the first row has been read.
	guessedRow = 1 << 10
	// leastBytes is the minimum size, in bytes, of a read of a range that lies in several buckets. A read may be
	// smaller only if the page needs fewer bytes. Smaller reads would save nothing, because stores charge in units of
	// some KiB. If the request has a filter, the minimum is leastFiltered, because most of the rows read may not match.
	leastBytes    = 4 << 10
	leastFiltered = 32 << 10
	// The factor first enlarges the first read of each stream (the part of a range in one bucket): this read asks for
	// first × its equal share of the missing rows. A higher factor saves reads if partitions are short. It wastes rows
	// if one long partition holds all rows of the page.
	first = 1.1
	// The method scan.share multiplies by the factors caution and residue to estimate how many rows a stream can
	// supply. Higher values make fewer reads and waste more rows. With these two values, the simulation in the tests
	// makes few enough reads and wastes few enough rows for every partition length.
	caution = 0.3
	residue = 0.4
	// The factor caution grows when a page has made more than lateAfter reads per bucket: by haste × caution for each
	// further read per bucket. Without this growth, some pages would take two reads more.
	lateAfter = 1.3
	haste     = 20
)

// plan chooses the reads of the next wave, a group of concurrent reads. The wave contains the reads that the scan needs
// now. It also contains reads for later, if they save a wave and waste few rows.
//
// The reads of a wave divide the byte budget equally, so that large rows do not exceed the budget. Only the read of the
// front stream (the stream at the smallest position) is certain to return a row.
func (s *scan) plan() {
	s.wave = s.wave[:0]
	s.choose()
	size, rows := s.o.ReadBytes, unlimited
	if s.req.ScanBytes > 0 {
		left := s.remainingBytes() / len(s.wave)
		row := s.rowBytes()
		if s.cost.Rows == 0 {
			row *= 2 // no row was read yet: double the guess, because a read that is too small is better than a read far over the budget
		}
		size, rows = min(size, max(left, 1)), ceil(float64(left)/row)
	}
	for i := range s.wave {
		f := &s.wave[i]
		f.limit.Bytes, f.limit.Rows = size, min(f.limit.Rows, rows)
		f.limit.Strict = len(s.wave) > 1 && (i > 0 || s.looked || !f.stream.alone && f.stream.fresh)
	}
}

// choose adds to the wave the reads that should run next.
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
		live := s.live(front)
		for _, st := range s.order[:live] {
			s.addRead(st, max(first*need/float64(live), s.least(need)))
		}
	default:
		n := max(s.share(front, need+1), s.least(need))
		s.addRead(front, n)
		s.addParallelReads(front, need-n)
	}
}

// addParallelReads adds reads of other streams that will soon have no rows in memory. It does so only if the page
// needs more rows than all streams have in memory, which happens when few rows match the filter.
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
	slices.SortFunc(next, func(a, b *stream) int { return s.down.compare(s.down.begin(a.rest), s.down.begin(b.rest)) })
	for _, st := range next {
		n := max(s.share(st, spare), s.least(spare))
		if spare < n || len(s.wave) == s.o.FanOut {
			return
		}
		if st.open && !st.heavy && 2*float64(len(st.rows))*scale < n {
			s.addRead(st, n)
			spare -= n
		}
	}
}

// least returns the minimum number of rows for one read of a range that several buckets share.
func (s *scan) least(need float64) float64 {
	if s.req.Filter != nil {
		return leastFiltered / s.rowBytes() // the filter makes the number of missing rows uncertain
	}
	return min(need+1, leastBytes/s.rowBytes())
}

// live returns how many streams of the same range still have rows that were not read yet.
func (s *scan) live(of *stream) int {
	n := 0
	for _, st := range s.order {
		if st.part == of.part && st.open {
			n++
		}
	}
	return n
}

// share estimates how many of the rows that the page still lacks will come from the stream st. The number of these rows
// is need. They come from one range, which lies in several buckets. The estimate is the sum of three numbers:
//
//   - The rest of the stream's current partition. A partition of which many rows were read is likely to be even longer.
//     So this number is residue × the rows that were read of this partition, plus the average length of a partition,
//     but at most 16 rows.
//   - The stream's equal share of all other rows.
//   - A margin: caution × the standard deviation of this share. The hash distributes whole partitions, so the number of
//     rows varies from stream to stream.
//
// The constants residue and caution are explained at their declaration.
func (s *scan) share(st *stream, need float64) float64 {
	length := float64(s.cost.Rows) / (float64(s.ends) + 0.5)
	rest := min(need, residue*float64(st.run)*s.scale()+min(length, 16))
	live := float64(s.live(st))
	others := (need - rest) / live
	late := max(float64(s.cost.Reads)/float64(s.count)-lateAfter, 0)
	return min(need, rest+others+caution*(1+haste*late)*math.Sqrt(others*length))
}

// addFollowingReads adds reads of the ranges after the current one, for example when a filter names a hundred
// entities. Together these reads ask for no more rows than the page needs.
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

// addRead adds a read of n rows to the wave. If the range has at most one row, the read asks for one row.
func (s *scan) addRead(st *stream, n float64) {
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

// ceil rounds n up to an integer between 1 and unlimited.
func ceil(n float64) int { return int(math.Ceil(min(max(n, 1), unlimited))) }

// remainingBytes returns how many bytes of the scan budget are left.
func (s *scan) remainingBytes() int { return max(s.req.ScanBytes-s.cost.Bytes, 0) }

// need estimates how many more rows must be examined to fill the page, from the size of the rows so far and the
// selectivity of the filter. A read that may end the page asks for one more row, to learn whether there is a next
// page.
func (s *scan) need() float64 {
	need := float64(unlimited)
	if s.req.Rows > 0 {
		need = float64(s.req.Rows - len(s.page.Page.Rows))
	}
	if s.req.Bytes > 0 {
		// Ask for a tenth more, because a missing row would cost another read.
		need = min(need, 1.1*float64(s.req.Bytes-s.page.Size())/s.rowBytes()+1)
	}
	if s.req.Filter != nil {
		// Before any row has been examined, assume that half of the rows match. The field s.judged does not count the
		// rows that the Source has filtered out, so multiply by s.scale().
		need *= (float64(s.judged)*s.scale() + 2) / float64(len(s.page.Page.Rows)+1)
	}
	if s.req.ScanBytes > 0 {
		need = min(need, float64(s.remainingBytes())/s.rowBytes())
	}
	return min(max(need, 1), unlimited)
}

// scale returns how many rows the Source has examined for each row that it returned.
func (s *scan) scale() float64 { return float64(s.cost.Rows+1) / float64(s.visible+1) }

// rowBytes estimates the size of a row in bytes.
func (s *scan) rowBytes() float64 {
	if s.cost.Rows == 0 || s.cost.Bytes == 0 {
		return guessedRow
	}
	return float64(s.cost.Bytes) / float64(s.cost.Rows)
}

// isPoint reports whether a range can hold at most one legal key, as the range of a single entity does; see
// [key.RowAfter].
func isPoint(r key.Range) bool {
	n := len(r.Start)
	return len(r.End) == n+1 && string(r.End[:n]) == string(r.Start) && r.End[n] <= ' ' && len(key.Partition(r.Start)) > 0
}

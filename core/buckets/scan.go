package buckets

import (
	"bytes"
	"context"

	"edgetable/core/key"
	"edgetable/core/table"
)

// pollBytes is how much is examined at most between two looks at the clock.
const pollBytes = 64 << 10

// Scan makes one page of a table whose partitions are spread over count buckets,
// as [table.Store].Scan demands it. It is exact about ranges, filter and limits;
// a page is a snapshot only if the Source reads one and needs one read for it.
//
// A page that cannot get past its start, because reads stand still, is
// [table.ErrBusy]. The error of a read is returned as it is, that of ctx when it
// has ended.
func Scan(ctx context.Context, src Source, count uint16, req table.ScanRequest, o Options) (table.Page, error) {
	s := scan{ctx: ctx, src: src, count: max(count, 1), req: &req, o: o}
	if s.o.ReadBytes <= 0 {
		s.o.ReadBytes = 1 << 20
	}
	s.open()
	err := s.collect()
	if o.Report != nil {
		o.Report(s.cost)
	}
	if err != nil {
		return table.Page{}, err
	}
	return s.page, nil
}

// scan is the work on one page.
type scan struct {
	ctx   context.Context
	src   Source
	count uint16
	req   *table.ScanRequest
	o     Options

	// order are the streams that have something left, by position. A stream
	// that must be read comes before one that shows a row at the same position.
	order []*stream

	page   table.Page
	size   int  // bytes in the page
	judged int  // rows of the merge that were examined
	polled int  // page.Scanned at the last look at the clock
	looked bool // for a row behind a page that has all of its rows
	cost   Cost
	wave   []fetch

	visible int // rows that were read and not sorted out by the Source
	ends    int // times a stream was seen to go from one partition to the next
}

// open makes a stream for each bucket in which a range can have rows.
func (s *scan) open() {
	n := 0
	for _, r := range s.req.Ranges {
		if _, one := partitionOf(r); one {
			n++
		} else {
			n += int(s.count)
		}
	}
	streams := make([]stream, 0, n)
	for i, r := range s.req.Ranges {
		st := stream{part: i, rest: r, fresh: true, open: true}
		if p, one := partitionOf(r); one {
			st.alone, st.point, st.bucket = true, isPoint(r), Of(p, s.count)
			streams = append(streams, st)
			continue
		}
		st.alone = s.count == 1
		for b := range s.count {
			st.bucket = b
			streams = append(streams, st)
		}
	}
	s.order = make([]*stream, n)
	for i := range streams {
		s.order[i] = &streams[i]
	}
}

// collect fills the page.
func (s *scan) collect() error {
	for len(s.order) > 0 {
		step := s.buy
		if len(s.order[0].rows) > 0 {
			step = s.drain
		}
		if over, err := step(); err != nil {
			return err
		} else if over {
			return s.end()
		}
	}
	return nil
}

// buy reads what the merge needs to go on, unless the page is over.
func (s *scan) buy() (over bool, err error) {
	if over, err = s.spent(0); over || err != nil || s.filled() && !s.doubts() {
		return true, err
	}
	if err = s.refill(); err != nil {
		return false, err
	}
	return len(s.order) > 0 && len(s.order[0].rows) == 0 && s.order[0].stuck, nil
}

// filled reports whether the page needs no more rows: the last eighth of its
// bytes is not worth a read.
func (s *scan) filled() bool {
	r := s.req
	return r.Rows > 0 && len(s.page.Rows) >= r.Rows || r.Bytes > 0 && s.size >= r.Bytes-r.Bytes/8
}

// doubts reports whether a page that has all its rows is likely to be the last:
// every bucket was read and shows no row, but some may have one. To look for it
// takes the reads that an empty page would.
func (s *scan) doubts() bool {
	if s.looked || s.req.Filter != nil || s.req.Rows == 0 || len(s.page.Rows) < s.req.Rows {
		return false
	}
	for _, st := range s.order {
		if st.alone || st.fresh || st.heavy || len(st.rows) > 0 {
			return false
		}
	}
	s.looked = true
	return true
}

// end ends the page at the smallest position.
func (s *scan) end() error {
	if !s.advanced() {
		return table.ErrBusy
	}
	s.page.Next = bytes.Clone(s.order[0].position())
	return nil
}

// advanced reports whether the page could end here: the smallest position is
// behind the start.
func (s *scan) advanced() bool {
	return s.judged > 0 || bytes.Compare(s.order[0].position(), s.req.Ranges[0].Start) > 0
}

// spent reports whether the budgets of the page forbid to examine another n bytes,
// or, with n = 0, another read. They never do before the page got on.
func (s *scan) spent(n int) (bool, error) {
	if s.judged == 0 && (n > 0 || !s.advanced()) {
		return false, nil
	}
	r, p := s.req, &s.page
	// What was paid for is examined, but no more is bought. A read that finds
	// nothing is paid for too: a filter may name many ranges in vain, and each is
	// looked for in every bucket.
	spent := r.ScanBytes > 0 && (p.Scanned >= r.ScanBytes || n == 0 && s.cost.Bytes+s.cost.Reads*leastBytes >= r.ScanBytes)
	if n == 0 || s.polled == 0 || p.Scanned+n-s.polled > pollBytes {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
		spent = spent || s.cost.Rows > 0 && r.Expired != nil && r.Expired()
		s.polled = max(p.Scanned, 1)
	}
	return spent, nil
}

// drain examines the rows of the front stream that lie before the position of
// every other stream. The page is over at a row that it has no room for: so as
// long as rows are at hand, those that do not match leave no doubt that there is
// one. If the page is not over, at least one row was examined.
func (s *scan) drain() (over bool, err error) {
	front := s.order[0]
	var bound []byte
	if len(s.order) > 1 {
		bound = s.order[1].position()
	}
	r, p := s.req, &s.page
	rows := front.rows
	front.rows = nil
	for i := range rows {
		row := &rows[i]
		n := len(row.Key) + len(row.Properties)
		if i > 0 && bound != nil && bytes.Compare(row.Key, bound) >= 0 {
			front.rows = rows[i:]
			break
		}
		over, err = s.spent(n)
		match := !over && (r.Filter == nil || r.Filter.Match(row.Key, row.Timestamp, row.Properties))
		if match {
			over = r.Rows > 0 && len(p.Rows) == r.Rows || r.Bytes > 0 && s.size+n > r.Bytes && len(p.Rows) > 0
		}
		if over || err != nil {
			front.rows = rows[i:]
			return over, err
		}
		p.Scanned += n
		s.judged++
		if match {
			s.size += n
			p.Rows = append(p.Rows, *row)
		}
	}
	s.settle()
	return false, nil
}

// partitionOf is the encoded PartitionKey that all legal keys of a range have,
// if there is such a one.
func partitionOf(r key.Range) (partition []byte, one bool) {
	p, _ := key.Split(r.Start)
	if n := len(p); n > 0 && p[n-1] < ' ' {
		return nil, false // a position behind a partition: see key.PartitionAfter
	}
	// No key has a character below U+0020: what follows the partition is the
	// separator or, in the End of a range, a byte that sorts right behind it.
	if r.End == nil || !bytes.HasPrefix(r.End, p) || len(r.End) > len(p) && r.End[len(p)] >= ' ' {
		return nil, false
	}
	return p, true
}

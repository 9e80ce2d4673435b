package buckets

import (
	"bytes"
	"context"

	"edgetable/core/table"
)

// Scan returns one page of a table with count buckets. It has the contract of [table.Store].Scan, but a page that needs
// several reads is not a snapshot.
//
// The error is [table.ErrBusy] if reads return nothing and the page cannot make progress. Errors of reads and of ctx
// are returned unchanged.
func Scan(ctx context.Context, src Source, count uint16, req table.ScanRequest, o Options) (table.Page, error) {
	s := scan{ctx: ctx, src: src, count: max(count, 1), req: &req, down: direction(req.Descending), o: o, page: table.NewPageBuilder(&req)}
	s.page.Eager = true
	if o.Begin != nil {
		o.Begin(&s.page)
	}
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
	s.page.Page.Examined = s.cost.Rows
	return s.page.Page, nil
}

type scan struct {
	ctx   context.Context
	src   Source
	count uint16
	req   *table.ScanRequest
	down  direction
	o     Options

	// order holds the unfinished streams, sorted by position. For equal positions, see [direction.streams].
	order []*stream

	page   table.PageBuilder
	judged int
	looked bool // whether each bucket was read for one more row after the page was full
	cost   Cost
	wave   []rangeRead

	visible int // number of rows that the Source returned
	ends    int // number of completed partitions in all streams
}

// open creates the streams: one for a range in a single partition, and one per bucket for any other range.
func (s *scan) open() {
	n := 0
	for _, r := range s.req.Ranges {
		if _, one := r.Partition(); one {
			n++
		} else {
			n += int(s.count)
		}
	}
	streams := make([]stream, 0, n)
	for i, r := range s.req.InOrder() {
		st := stream{part: i, rest: r, fresh: true, open: true}
		if p, one := r.Partition(); one {
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

func (s *scan) collect() error {
	for len(s.order) > 0 {
		step := s.readNext
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

func (s *scan) readNext() (over bool, err error) {
	if s.isSpent() || s.filled() && !s.isProbablyLast() {
		return true, nil
	}
	if err = s.refill(); err != nil {
		return false, err
	}
	return len(s.order) > 0 && len(s.order[0].rows) == 0 && s.order[0].stuck, nil
}

// filled reports whether the page is full. A page counts as full from seven eighths of its byte limit on, because the
// rest is not worth another read.
func (s *scan) filled() bool {
	r := s.req
	return s.page.HasAllRows() || r.Bytes > 0 && s.page.Size() >= r.Bytes-r.Bytes/8
}

// isProbablyLast reports whether a full page is probably the last one: every bucket has been read, and no row is in
// memory. Scan then reads on, to spare the client an empty page.
func (s *scan) isProbablyLast() bool {
	if s.looked || s.req.Filter != nil || !s.page.HasAllRows() {
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

func (s *scan) end() error {
	if !s.advanced() {
		return table.ErrBusy
	}
	s.page.Page.Next = s.next()
	return nil
}

// next returns the position at which the next page would begin if the current page ended now.
func (s *scan) next() []byte {
	front := s.order[0]
	if len(front.rows) > 0 {
		return s.req.Continue(front.rows[0].Key)
	}
	return bytes.Clone(s.down.startOf(front.rest))
}

// advanced reports whether the page has made progress, so that it may end. The smallest position of all streams must be
// after the start of the page.
func (s *scan) advanced() bool {
	return s.judged > 0 || s.down.compare(s.next(), s.down.startOf(s.req.InOrder()[0])) > 0
}

// isSpent reports whether a budget of the page is used up. Before the page has made progress, it returns false.
func (s *scan) isSpent() bool {
	if !s.advanced() {
		return false
	}
	// Charge reads without a result too. Otherwise the number of reads would be unlimited, because a filter may name
	// many empty ranges.
	r := s.req
	return r.ScanBytes > 0 && max(s.page.Page.Scanned, s.cost.Bytes+s.cost.Reads*leastBytes) >= r.ScanBytes ||
		s.cost.Rows > 0 && r.Expired != nil && r.Expired()
}

// drain examines rows of the front stream up to the position of the next stream. It examines at least one row unless
// the page is complete.
func (s *scan) drain() (over bool, err error) {
	front := s.order[0]
	var bound []byte
	bounded := len(s.order) > 1
	if bounded {
		bound = s.order[1].position(s.down)
	}
	rows := front.rows
	front.rows = nil
	for i := range rows {
		row := &rows[i]
		if i > 0 && bounded && s.down.compare(row.Key, bound) >= 0 {
			front.rows = rows[i:]
			break
		}
		verdict, err := s.page.Examine(s.ctx, row)
		if verdict == table.End || err != nil {
			front.rows = rows[i:]
			return true, err
		}
		s.judged++
		if verdict == table.Take {
			s.page.Page.Rows = append(s.page.Page.Rows, *row)
		}
	}
	s.reorderFront()
	return false, nil
}

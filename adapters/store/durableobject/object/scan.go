package object

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/odata"
	"edgetable/core/table"
)

const (
	// maxScan is how many bytes one message examines at most: the object does
	// nothing else meanwhile, and its clock may stand still, so that it cannot
	// know for how long.
	maxScan = 8 << 20

	// What is read of the rows at a time, by the number of rows that are needed.
	guessRow = 1 << 10
	leastRun = 4 << 10
	mostRun  = 256 << 10
)

// scan makes a page. Whether it is full is asked before a row is examined, never
// after: so Next is the key of a row that exists, and a page that finished has
// none. The first row is examined whatever the limits, so that every page gets on,
// unless they are strict.
func (h *handling) scan() Step {
	p := h.r.Place()
	s := h.r.Scan()
	if !h.r.Done() || len(s.Ranges) == 0 {
		return h.garbled()
	}
	var filter *odata.Filter
	if s.Filter != "" {
		// The filter goes with nothing that outlives the message: it may share it.
		f, err := odata.Parse(s.Filter)
		if err != nil {
			return Step{Answer: message.BadFilter(h.dst)}
		}
		filter = f
	}
	ok, instead := h.serve(&p)
	if !ok {
		return instead
	}
	budget := maxScan
	if s.ScanBytes > 0 {
		budget = min(budget, s.ScanBytes)
	}
	page := message.BeginPage(h.dst)
	examined, rows, size := 0, 0, 0
	var from, to []byte
	for _, g := range s.Ranges {
		from = append(append(from[:0], spaceEntities), g.Start...)
		if to = to[:0]; g.End == nil {
			to = append(to, spaceEntities+1)
		} else {
			to = append(append(to, spaceEntities), g.End...)
		}
		for k, v := range h.rows.Scan(from, to, run(&s, page.Rows(), filter != nil)) {
			k = k[1:]
			if rows > 0 && (examined >= budget || s.Rows > 0 && page.Rows() == s.Rows || s.ScanRows > 0 && rows >= s.ScanRows) {
				return Step{Answer: page.End(k, examined, rows)}
			}
			row, err := table.ParseRow(k, v)
			if err != nil {
				return h.fail(err)
			}
			n := len(k) + len(row.Properties)
			if s.Strict && examined+n > budget {
				return Step{Answer: page.End(k, examined, rows)}
			}
			match := filter == nil || filter.Match(k, row.Timestamp, row.Properties)
			if match && s.Bytes > 0 && size+n > s.Bytes && page.Rows() > 0 {
				return Step{Answer: page.End(k, examined, rows)}
			}
			examined += n
			rows++
			if match {
				size += n
				page.Add(k, v, examined)
			}
		}
	}
	return Step{Answer: page.End(nil, examined, rows)}
}

// run is how much of a range to read at a time.
func run(s *message.Scan, have int, filtered bool) int {
	n := mostRun
	if s.Rows > 0 && !filtered {
		n = min(n, (s.Rows-have+1)*guessRow)
	}
	if s.ScanRows > 0 {
		n = min(n, (s.ScanRows+1)*guessRow)
	}
	if s.ScanBytes > 0 {
		n = min(n, s.ScanBytes+guessRow)
	}
	return max(n, leastRun)
}

package object

import (
	"context"

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

// scan makes a page. A strict limit holds for the first row too.
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
	limits := table.ScanRequest{Filter: filter, Rows: s.Rows, Bytes: s.Bytes, ScanBytes: maxScan}
	if s.ScanBytes > 0 {
		limits.ScanBytes = min(maxScan, s.ScanBytes)
	}
	b := table.NewPageBuilder(&limits)
	page := message.BeginPage(h.dst)
	rows := 0 // examined
	var from, to []byte
	for _, g := range s.Ranges {
		from = append(append(from[:0], spaceEntities), g.Start...)
		if to = to[:0]; g.End == nil {
			to = append(to, spaceEntities+1)
		} else {
			to = append(append(to, spaceEntities), g.End...)
		}
		for k, v := range h.rows.Scan(from, to, run(&s, page.Rows(), filter != nil)) {
			row, err := table.ParseRow(k[1:], v)
			if err != nil {
				return h.fail(err)
			}
			if s.ScanRows > 0 && rows >= s.ScanRows || s.Strict && b.Page.Scanned+len(row.Key)+len(row.Properties) > limits.ScanBytes {
				return Step{Answer: page.End(row.Key, b.Page.Scanned, rows)}
			}
			verdict, _ := b.Examine(context.Background(), &row)
			if verdict == table.End {
				return Step{Answer: page.End(b.Page.Next, b.Page.Scanned, rows)}
			}
			rows++
			if verdict == table.Take {
				page.Add(row.Key, v, b.Page.Scanned)
			}
		}
	}
	return Step{Answer: page.End(nil, b.Page.Scanned, rows)}
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

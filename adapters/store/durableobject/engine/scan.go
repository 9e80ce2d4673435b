package engine

import (
	"context"
	"iter"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	// maxScan is the number of bytes that one message may examine, because other messages wait. A time limit would not
	// work: the clock may stand still.
	maxScan = 8 << 20

	// guessRow is the assumed size of a row.
	guessRow = 1 << 10
)

// scan answers with a page of rows. If Strict is set, the limit of bytes also applies to the first row, so that the
// page may be empty.
func (b *bucket) scan(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	s := t.Fields.Scan()
	if !t.Fields.Done() || len(s.Ranges) == 0 {
		return t.Malformed()
	}
	position := s.Position()
	if ok, instead := b.serve(t, &p, position); !ok {
		return instead
	}
	limits := table.ScanRequest{Ranges: s.Ranges, Filter: s.Filter, Descending: s.Descending, Count: s.Count, Ended: s.Ended, Rows: s.Rows, Bytes: s.Bytes, ScanBytes: maxScan}
	if s.ScanBytes > 0 {
		limits.ScanBytes = min(maxScan, s.ScanBytes)
	}
	judge := b.expiryJudge(t)
	builder := table.NewPageBuilder(&limits)
	builder.Traits, builder.Now = judge.Traits, judge.Now
	page := message.BeginPage(t.Dst)
	var next []byte
	own, border := b.marker.Bounds(), false
ranges:
	for _, g := range limits.InOrder() {
		mine := g.Intersect(own)
		for k, v := range b.rowsInRange(t, mine, &s, page.Rows()) {
			row, err := table.ParseRow(k[1:], v)
			if err != nil {
				return t.Fail(err)
			}
			if s.ScanRows > 0 && builder.Page.Examined >= s.ScanRows || s.Strict && builder.Page.Scanned+len(row.Key)+len(row.Properties) > limits.ScanBytes {
				next = limits.Continue(row.Key)
				break ranges
			}
			verdict, _ := builder.Examine(context.Background(), &row)
			if verdict == table.End {
				next = builder.Page.Next
				break ranges
			}
			if verdict == table.Take {
				page.Add(row.Key, v, builder.Page.Scanned)
			} else {
				judge.Hides(&row)
			}
		}
		if at := s.Leaves(g, own); at != nil {
			next, border = at, true
			break
		}
	}
	step := turn.Step{Answer: page.End(next, border, builder.Page.Scanned, builder.Page.Examined)}
	if s.Count {
		step.Answer = message.AppendCount(step.Answer, builder.Page.Count)
	}
	judge.Keep(t.Rows, b.clock)
	b.traffic.Scanned(t.Rows, t.Now, &s, &builder.Page, page.Rows())
	b.split.visited(t, b, &p, position)
	return step
}

// rowsInRange iterates over the rows of entities in a range, in the order of the scan. The parameter rowCount is the
// number of rows already in the page.
func (b *bucket) rowsInRange(t *turn.Turn, r key.Range, s *message.Scan, rowCount int) iter.Seq2[[]byte, []byte] {
	if r.Empty() {
		return func(func(k, v []byte) bool) {}
	}
	from, to := storage.Entities(r)
	if s.Descending {
		return t.Rows.ScanBack(from, to, readSize(s, rowCount))
	}
	return t.Rows.Scan(from, to, readSize(s, rowCount))
}

// readSize returns the number of bytes to read from the storage at a time. The parameter rowCount is the number of rows
// already in the page.
func readSize(s *message.Scan, rowCount int) int {
	n := storage.MostRun
	if s.Rows > 0 && s.Filter == nil {
		n = min(n, (s.Rows-rowCount+1)*guessRow)
	}
	if s.ScanRows > 0 {
		n = min(n, (s.ScanRows+1)*guessRow)
	}
	if s.ScanBytes > 0 {
		n = min(n, s.ScanBytes+guessRow)
	}
	return max(n, storage.LeastRun)
}

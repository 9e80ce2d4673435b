package workerskv_test

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// steady returns a clock that advances a little with each call.
func steady() func() edm.Ticks {
	t := edm.TicksOf(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	return func() edm.Ticks { t += 10; return t }
}

var tableName = table.RecordKey{Account: "acct", Table: "one"}

// create creates the table and waits until it is visible everywhere.
func (w *world) create(s *workerskv.Store, incarnation byte) {
	w.Helper()
	d := table.Record{Key: tableName}
	d.Incarnation[0] = incarnation
	if _, err := s.WriteRecord(w.Context(), d); err != nil {
		w.Fatal(err)
	}
	w.settle()
}

func (w *world) drop(s *workerskv.Store) error {
	w.Helper()
	d, err := s.ReadRecord(w.Context(), tableName, table.Strong)
	if err != nil {
		w.Fatal(err)
	}
	return s.Drop(w.Context(), tableName, d.Revision)
}

// commit applies mutations to the table.
func (w *world) commit(s *workerskv.Store, m ...table.Mutation) {
	w.Helper()
	if _, err := s.Commit(w.Context(), tableName, m); err != nil {
		w.Fatal(err)
	}
}

// This function returns a mutation that puts an entity with one small property.
func number(partition, row string, n int32) table.Mutation {
	return table.Mutation{Key: key.Append(nil, partition, row), Nonce: uint64(n), Properties: edm.AppendProperty(nil, "n", edm.Int32(n))}
}

func partition(p string) key.Range {
	return key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)}
}

// pages returns the pages of a scan one after the other.
func (w *world) pages(s table.Store, r table.ScanRequest) iter.Seq[table.Page] {
	return func(yield func(table.Page) bool) {
		w.Helper()
		for len(r.Ranges) > 0 {
			page, err := s.Scan(w.Context(), tableName, r)
			if err != nil {
				w.Fatal(err)
			}
			if !yield(page) || page.Next == nil {
				return
			}
			r.Ranges = key.From(r.Ranges, page.Next)
		}
	}
}

// show reads a range page by page and returns its entities as text: partition/row=number.
func (w *world) show(s table.Store, r key.Range, rows int) string {
	w.Helper()
	var b strings.Builder
	for page := range w.pages(s, table.ScanRequest{Ranges: []key.Range{r}, Rows: rows}) {
		for _, row := range page.Rows {
			v, _ := row.Properties.Lookup("n")
			p, r := key.Decode(row.Key)
			fmt.Fprintf(&b, "%s/%s=%d ", p, r, v.Int())
		}
	}
	return b.String()
}

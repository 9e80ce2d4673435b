package table

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Get returns one entity.
func (s *Service) Get(ctx context.Context, n Name, partitionKey, rowKey string, c Consistency) (Row, error) {
	if err := n.check(); err != nil {
		return Row{}, err
	}
	k, err := encodeKey(partitionKey, rowKey)
	if err != nil {
		return Row{}, err
	}
	row, err := s.startCall().Get(ctx, n.Key(), k, c)
	if err != nil {
		s.finishCall(0, 0)
		return Row{}, protocolError(err)
	}
	s.finishCall(1, len(row.Key)+len(row.Properties))
	return row, nil
}

// Query asks for entities in the order of their keys.
type Query struct {
	Filter *odata.Filter // nil: all
	Within *key.Range    // nil: the whole table
	Top    int           // maximum rows of the page, 1 to 1000; 0: one empty page, which is the last
	// From is where the page starts: the Next of the previous page, or nil.
	From        []byte
	Consistency Consistency
	// Descending reads from the last key to the first one.
	Descending bool
	// Count asks for [Page].Count instead of rows. Top is then ignored.
	Count bool
	// Pause is called from time to time with the rows and bytes examined so far; see
	// [ScanRequest]. It may be nil.
	Pause func(rows, size int) (end bool)
}

// Query returns one page. A page with a Next is not the last one, even if it is
// empty.
func (s *Service) Query(ctx context.Context, n Name, q Query) (Page, error) {
	if err := n.check(); err != nil {
		return Page{}, err
	}
	plan := odata.MakePlan(q.Filter)
	end := s.now() + s.budget.Time
	r := ScanRequest{
		Ranges:      plan.Ranges,
		Filter:      plan.Residual,
		Rows:        min(q.Top, MaxPageRows),
		Bytes:       s.budget.Bytes,
		ScanBytes:   s.budget.ScanBytes,
		Descending:  q.Descending,
		Count:       q.Count,
		Expired:     func() bool { return s.now() > end },
		Pause:       q.Pause,
		Consistency: q.Consistency,
	}
	if q.Count {
		r.Rows, r.Bytes = 0, 0
	}
	if q.From != nil {
		r.Ranges = r.Rest(q.From)
	}
	if q.Within != nil {
		r.Ranges = key.Within(r.Ranges, *q.Within)
	}
	if len(r.Ranges) == 0 || q.Top == 0 && !q.Count {
		_, err := s.table(ctx, n)
		return Page{}, err
	}
	page, err := s.startCall().Scan(ctx, n.Key(), r)
	s.finishCall(page.Examined, page.Scanned)
	if err != nil {
		return Page{}, protocolError(err)
	}
	return page, nil
}

// table reads the record of a table. It fails with TableNotFound if there is none.
func (s *Service) table(ctx context.Context, n Name) (Record, error) {
	r, err := s.startCall().ReadRecord(ctx, n.Key(), Strong)
	s.finishCall(0, 0)
	if errors.Is(err, ErrNoRecord) {
		return r, TableNotFound.Err()
	}
	if err != nil {
		return r, protocolError(err)
	}
	return r, nil
}

// nameProperty is the property of a table's record that holds the name as it was
// written when the table was created.
const nameProperty = "TableName"

// tableValue returns the value of the record of a new table.
func tableValue(name string) edm.Properties {
	return edm.AppendProperty(nil, nameProperty, edm.String(name))
}

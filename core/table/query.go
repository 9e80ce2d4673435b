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

// Query selects entities in the order of their keys.
type Query struct {
	Filter *odata.Filter // a nil Filter selects all entities
	Range  *key.Range    // range of keys, or nil for the whole table
	Top    int           // maximum number of rows, 1 to 1000; if 0, the page is empty and has no Next
	// From is the field Next of the previous page, or nil for the first page.
	From        []byte
	Consistency Consistency
	// Descending reverses the order.
	Descending bool
	// Count makes the query return [Page].Count instead of rows. Top is then ignored.
	Count bool
	// Pause is called repeatedly with the number of rows and bytes examined so far; see [ScanRequest]. Pause may be
	// nil.
	Pause func(rows, size int) (end bool)
}

// Query returns one page. If Next is set, more pages follow, even if the page is empty.
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
	if q.Range != nil {
		r.Ranges = key.IntersectAll(r.Ranges, *q.Range)
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

// table returns the record of a table, or the error TableNotFound.
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

// nameProperty is a property of a table's record. It contains the table name in its original case.
const nameProperty = "TableName"

func tableValue(name string) edm.Properties {
	return edm.AppendProperty(nil, nameProperty, edm.String(name))
}

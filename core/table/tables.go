package table

import (
	"context"
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/odata"
)

// CreateTable makes an empty table.
func (s *Service) CreateTable(ctx context.Context, n Name) error {
	if err := CheckTableName(n.Table); err != nil {
		return err
	}
	r := Record{Key: n.Key(), Value: tableValue(n.Table), Incarnation: s.incarnation()}
	_, err := s.store.WriteRecord(ctx, r)
	if errors.Is(err, ErrUnknown) {
		// The record names its incarnation: if it is ours, so was the write.
		now, readErr := s.store.ReadRecord(ctx, r.Key)
		if readErr == nil && now.Incarnation == r.Incarnation {
			return nil
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrRevision):
		return TableAlreadyExists.Err()
	case errors.Is(err, ErrBeingDeleted):
		return TableBeingDeleted.Err()
	}
	return protocolError(err)
}

func (s *Service) incarnation() (i Incarnation) {
	binary.BigEndian.PutUint64(i[:8], s.rand())
	binary.BigEndian.PutUint32(i[8:], uint32(s.rand()))
	return i
}

// DeleteTable removes a table with all its entities. Its name can be used again
// as soon as DeleteTable has returned.
func (s *Service) DeleteTable(ctx context.Context, n Name) error {
	if CheckTableName(n.Table) != nil {
		return ResourceNotFound.Err()
	}
	for range 3 { // a record changes seldom: twice in a row is already strange
		r, err := s.store.ReadRecord(ctx, n.Key())
		if errors.Is(err, ErrNoRecord) {
			return ResourceNotFound.Err()
		}
		if err == nil {
			err = s.store.Drop(ctx, r.Key, r.Revision)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrRevision):
			return protocolError(err)
		}
	}
	return ServerBusy.Err()
}

// GetTable returns the name of a table as it was given at creation, or
// ResourceNotFound.
func (s *Service) GetTable(ctx context.Context, n Name) (string, error) {
	if CheckTableName(n.Table) != nil {
		return "", ResourceNotFound.Err()
	}
	r, err := s.store.ReadRecord(ctx, n.Key())
	if errors.Is(err, ErrNoRecord) {
		return "", ResourceNotFound.Err()
	}
	if err != nil {
		return "", protocolError(err)
	}
	name, _ := edm.Properties(r.Value).Lookup(nameProperty)
	return name.Text(), nil
}

// TableQuery asks for the tables of an account in the order of their
// lower-case names.
type TableQuery struct {
	Filter *odata.Filter // sees the property TableName; nil: all
	Top    int           // as in Query
	From   string        // the Next of the page before, or ""
}

// TablePage is one page of tables.
type TablePage struct {
	Names []string
	Next  string // "" where the list is finished
}

// QueryTables returns one page of the account's tables.
func (s *Service) QueryTables(ctx context.Context, account string, q TableQuery) (TablePage, error) {
	var page TablePage
	top := min(q.Top, MaxPageRows)
	if top == 0 {
		return page, nil
	}
	limit := MaxPageRows + 1 // one more than examined at a time, to see that there are more
	if q.Filter == nil {
		limit = top + 1
	}
	from := FoldName(q.From)
	for end := s.now() + s.budget.Time; ; {
		records, err := s.store.ListRecords(ctx, account, from, limit)
		if err != nil {
			return TablePage{}, protocolError(err)
		}
		for i, r := range records {
			if len(page.Names) == top || i == limit-1 {
				page.Next = r.Key.Table
				break
			}
			if q.Filter == nil || q.Filter.Match(nil, 0, r.Value) {
				name, _ := edm.Properties(r.Value).Lookup(nameProperty)
				page.Names = append(page.Names, name.Text())
			}
		}
		if page.Next == "" || len(page.Names) == top || s.now() > end {
			return page, nil
		}
		from, page.Next = page.Next, ""
	}
}

package table

import (
	"bytes"
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// TableQuery selects tables of an account, in the order of their lower-case names.
type TableQuery struct {
	Filter *odata.Filter // result of ParseTableFilter, or nil for all tables
	Top    int           // maximum number of tables on the page; see [Query]
	From   string        // the field Next of the previous page, or "" for the first page

	Consistency Consistency
}

// TablePage is one page of tables.
type TablePage struct {
	Names []string
	Next  string // start of the next page, or "" on the last page
	// Examined is the number of tables that were compared with the filter.
	Examined int
}

// ParseTableFilter parses a filter on tables. Comparisons with TableName ignore case.
func ParseTableFilter(text string) (*odata.Filter, error) {
	return odata.ParseTables(text, FoldName)
}

// QueryTables returns one page of the account's tables. A full page has a Next only if another table matches the
// filter, or if the query stopped before a record that may match.
func (s *Service) QueryTables(ctx context.Context, account string, q TableQuery) (TablePage, error) {
	var page TablePage
	top := min(q.Top, MaxPageRows)
	if top == 0 {
		return page, nil
	}
	plan := odata.MakePlan(q.Filter)
	limit := top + 1 // one table more than the page needs, to see whether more tables follow
	if plan.Residual != nil {
		limit = MaxPageRows + 1
	}
	end := s.now() + s.budget.Time
	ranges := key.From(plan.Ranges, key.PartitionFrom(FoldName(q.From)))
	for len(ranges) > 0 {
		r := &ranges[0]
		limit := limit
		if isOneName(*r) {
			limit = 2
		}
		records, err := s.startCall().ListRecords(ctx, account, string(r.Start), limit, q.Consistency)
		s.finishCall(len(records), 0)
		if err != nil {
			return TablePage{}, protocolError(err)
		}
		rest := ranges[1:]
		for i := range records {
			name := records[i].Key.Table
			k := key.Append(nil, name, "")
			if !r.Contains(k) {
				break
			}
			page.Examined++
			if i == limit-1 {
				r.Start = key.PartitionFrom(name)
				rest = ranges
				break
			}
			if !plan.Residual.Match(k, 0, nil) {
				continue
			}
			if len(page.Names) == top {
				page.Next = name
				return page, nil
			}
			created, _ := edm.Properties(records[i].Value).Lookup(nameProperty)
			page.Names = append(page.Names, created.Text())
		}
		cut := len(rest) == len(ranges)
		ranges = rest
		if len(ranges) > 0 && (cut && len(page.Names) == top || s.now() > end) {
			page.Next = string(ranges[0].Start)
			break
		}
	}
	return page, nil
}

// isOneName reports whether a range contains exactly one name.
func isOneName(r key.Range) bool {
	return bytes.Equal(r.End, key.PartitionAfter(key.DecodePart(r.Start)))
}

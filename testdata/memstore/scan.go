package memstore

import (
	"context"

	"edgetable/core/table"
)

// Scan implements [table.Store].
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	v, err := s.snapshot(ctx, name)
	if err != nil {
		return table.Page{}, err
	}
	b := table.NewPageBuilder(&r)
	b.Traits, b.Now = v.traits, v.now
	for _, rg := range r.InOrder() {
		inside := v.rows.from(string(rg.Start))
		if r.Descending {
			inside = v.rows.before(rg.End)
		}
		for k, row := range inside {
			if !rg.Contains([]byte(k)) {
				break
			}
			switch verdict, err := b.Examine(ctx, &row); {
			case err != nil:
				return table.Page{}, err
			case verdict == table.Take:
				b.Page.Rows = append(b.Page.Rows, clone(row))
			case verdict == table.End:
				return b.Page, nil
			}
		}
	}
	return b.Page, nil
}

package pebblestore

import (
	"context"

	"edgetable/core/table"
)

// Withdraw removes the expiry rules of all tables, and returns how many tables had a rule. Expired entities that are
// still stored become visible again.
func (s *Store) Withdraw(ctx context.Context) (tables int, err error) {
	var declare []table.Record
	err = forEachRecord(s.db, func(r *table.Record) error {
		if r.Traits != nil && (r.Traits.Expiry != nil || r.Traits.Ending != nil) {
			declare = append(declare, *r)
		}
		return nil
	})
	for _, r := range declare {
		if err != nil {
			return 0, err
		}
		if r.Traits.Feeds() {
			r.Traits = &table.Traits{Feed: r.Traits.Feed}
		} else {
			r.Traits = nil
		}
		_, err = s.WriteRecord(ctx, r)
	}
	return len(declare), err
}

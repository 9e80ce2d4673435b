package pebblestore

import (
	"context"

	"edgetable/core/table"
)

// Withdraw removes what tables declare about their entities: what had ended by a rule and is
// still stored is there again. It returns the number of tables.
func (s *Store) Withdraw(ctx context.Context) (tables int, err error) {
	var declare []table.Record
	err = each(s.db, []byte{spaceRecords}, func(k, v []byte) error {
		r, err := table.ParseRecord(string(k[1:]), v)
		if r.Traits != nil {
			declare = append(declare, r)
		}
		return err
	})
	for _, r := range declare {
		if err != nil {
			return 0, err
		}
		r.Traits = nil
		_, err = s.WriteRecord(ctx, r)
	}
	return len(declare), err
}

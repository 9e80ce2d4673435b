package pebblestore

import (
	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/edm"
)

// commitInternal commits a batch that changes no entity and no table record.
func (s *Store) commitInternal(b *pebble.Batch) (edm.Ticks, error) {
	st := &s.stripes[0] // Each commit must lock a stripe. Any stripe will do, because this commit changes no entity.
	st.Lock()
	e, err := s.journal.register(undo{stripe: st, liveTable: new(liveTable)})
	if err == nil {
		if err = s.apply(b, e); err != nil {
			s.journal.cancel(e)
		}
	}
	st.Unlock()
	if err != nil {
		return 0, err
	}
	return e.number, s.awaitDurable(b, e)
}

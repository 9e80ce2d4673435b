package pebblestore

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/table"
)

// countOrphans logs the number of stored entities of each table whose record is lost. No request can reach these
// entities.
func (s *Store) countOrphans(logf func(string, ...any)) error {
	live := map[table.Incarnation]bool{}
	err := forEachRecord(s.db, func(r *table.Record) error {
		live[r.Incarnation] = true
		return nil
	})
	if err != nil {
		return err
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{layout.Entities}, UpperBound: []byte{layout.Entities + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; {
		if len(it.Key()) < layout.PrefixLength {
			ok = it.Next()
			continue
		}
		prefix := bytes.Clone(it.Key()[:layout.PrefixLength])
		if live[table.Incarnation(prefix[1:])] {
			ok = it.SeekGE(layout.End(prefix))
			continue
		}
		n := 0
		for ; ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Next() {
			n++
		}
		logf("edgetable: accepted damage: %d entities belong to no table, because the record of the table with incarnation %x is lost; stop the server, and 'edgetable check --salvage' recovers them in a table with another name", n, prefix[1:])
	}
	return errors.Join(it.Error(), it.Close())
}

package pebblestore

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// countOrphans logs, for each table whose record is lost, how many of its entities are still stored. No request can
// reach these entities. countOrphans is called when damage was accepted.
func (s *Store) countOrphans(logf func(string, ...any)) error {
	live := map[table.Incarnation]bool{}
	err := forEachKey(s.db, []byte{spaceRecords}, func(k, v []byte) error {
		r, err := table.ParseRecord(string(k[1:]), v)
		live[r.Incarnation] = true
		return err
	})
	if err != nil {
		return err
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceEntities}, UpperBound: []byte{spaceEntities + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; {
		if len(it.Key()) < prefixLength {
			ok = it.Next()
			continue
		}
		prefix := bytes.Clone(it.Key()[:prefixLength])
		if live[table.Incarnation(prefix[1:])] {
			ok = it.SeekGE(prefixEnd(prefix))
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

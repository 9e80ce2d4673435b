package pebblestore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// readOld reads the stored entities on which the mutations depend. If keep is true, it reads the entities of all
// mutations. Otherwise the results are valid only until done is called.
func (s *Store) readOld(l *liveTable, m []table.Mutation, buf *[]byte, all bool) (olds []oldState, done func(), err error) {
	olds = make([]oldState, len(m))
	if len(m) > 1 {
		return olds, func() {}, s.readMany(l, m, olds, buf, all)
	}
	done = func() {}
	if isUnconditionalPut(&m[0]) && !all {
		return olds, done, nil
	}
	*buf = l.appendKey((*buf)[:0], m[0].Key)
	v, closer, err := s.db.Get(*buf)
	if errors.Is(err, pebble.ErrNotFound) {
		return olds, done, nil
	}
	if err != nil {
		return nil, nil, err
	}
	olds[0].exists = true
	if all {
		v = bytes.Clone(v)
	}
	olds[0].row, err = table.ParseRow(m[0].Key, v)
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return olds, func() { closer.Close() }, nil // an error of Close does not matter after a successful read
}

func isUnconditionalPut(m *table.Mutation) bool {
	return m.Condition == table.Always && m.Kind == table.Put
}

// readMany reads the entities of the mutations in key order with one iterator. For most batches of inserts, one seek is
// enough.
func (s *Store) readMany(l *liveTable, m []table.Mutation, olds []oldState, buf *[]byte, keep bool) (err error) {
	order := make([]int, 0, len(m))
	for i := range m {
		if keep || !isUnconditionalPut(&m[i]) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(m[a].Key, m[b].Key) })
	first, last := m[order[0]].Key, m[order[len(order)-1]].Key
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: l.appendKey(nil, first),
		UpperBound: append(l.appendKey(nil, last), 0),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	valid := it.First()
	for _, i := range order {
		if !valid {
			break
		}
		*buf = l.appendKey((*buf)[:0], m[i].Key)
		if bytes.Compare(it.Key(), *buf) < 0 {
			if valid = it.SeekGE(*buf); !valid {
				break
			}
		}
		if !bytes.Equal(it.Key(), *buf) {
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		olds[i].exists = true
		if olds[i].row, err = table.ParseRow(m[i].Key, bytes.Clone(v)); err != nil {
			return err
		}
	}
	return it.Error()
}

package postgres

import (
	"slices"

	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/table"
)

// plan makes the write of a mutation, given the state of its entity. Only merges need it.
func plan(name string, m *table.Mutation, now *table.Row) (*write, error) {
	w := &write{name: name, key: m.Key, nonce: m.Nonce, properties: statement.Bytes(m.Properties), match: m.IfMatch}
	switch {
	case m.Kind == table.Merge && now == nil:
		if _, err := table.Apply(nil, *m, 0); err != nil {
			return nil, err
		}
		w.form = statement.Insert
	case m.Kind == table.Merge:
		row, err := table.Apply(now, *m, 0)
		if err != nil {
			return nil, err
		}
		w.form, w.match, w.properties = statement.Swap, now.Timestamp, statement.Bytes(row.Properties)
	case m.Condition == table.Absent:
		w.form = statement.Insert
	case m.Condition == table.Present:
		w.form = statement.Update
	case m.Condition == table.Unchanged:
		w.form = statement.Swap
	default:
		w.form = statement.Upsert
	}
	if m.Kind == table.Delete {
		w.properties = nil
	}
	return w, nil
}

// planAll makes the writes of mutations, in the order in which all servers write.
func planAll(name string, m []table.Mutation, states []state) ([]*write, error) {
	list := make([]*write, len(m))
	for i := range m {
		var now *table.Row
		if states != nil {
			now = states[i].row
		}
		w, err := plan(name, &m[i], now)
		if err != nil {
			return nil, &table.Refused{Index: i, Err: err}
		}
		list[i] = w
	}
	slices.SortFunc(list, less)
	return list, nil
}

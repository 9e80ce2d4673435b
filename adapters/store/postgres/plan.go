package postgres

import (
	"slices"

	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/table"
)

// needsState reports whether a mutation can be written only if the state of its entity is known: a merge, a removal of
// an expired entity and, if entities of the table can expire, a write that requires an existing entity.
func needsState(m *table.Mutation, d *ruled.Table) bool {
	return m.Kind == table.Merge || m.Kind == table.Expire || d.Ends() && m.Condition >= table.Present
}

// planRuled completes the write of a mutation to a table whose entities can expire. The parameter now is the state of
// the entity, or nil if it is unknown.
//
// A write that depends on the state is applied only if the entity still has the Timestamp of this state. So if another
// server has written the entity in the meantime, the write fails.
func planRuled(w *write, m *table.Mutation, now *state) (effect table.Effect, err error) {
	switch {
	case m.Kind == table.Put && m.Condition == table.Always:
		w.form = statement.Upsert
		return effect, nil
	case now == nil:
		w.form = statement.Insert
		return effect, nil
	}
	if effect, err = w.declared.Rules().Apply(now.row, *m, now.at); err != nil {
		return effect, err
	}
	if w.properties = nil; effect.Row != nil {
		w.properties = statement.Bytes(effect.Row.Properties)
	}
	if w.form = statement.Insert; now.row != nil {
		w.form, w.rowTimestamp = statement.Swap, now.row.Timestamp
		if !now.isExpired() {
			w.requiredRow = now.row
		}
	}
	return effect, nil
}

// plan returns the write of a mutation to a table whose entities do not expire. The last parameter is the entity's row,
// which merges and removals of expired entities need.
func plan(name string, m *table.Mutation, now *table.Row) (*write, error) {
	w := &write{name: name, key: m.Key, nonce: m.Nonce, properties: statement.Bytes(m.Properties), rowTimestamp: m.IfMatch}
	switch {
	case m.Kind == table.Expire:
		if _, err := table.Apply(now, *m, 0); err != nil {
			return nil, err
		}
		return nil, table.ErrChanged // no entity has expired, because the table has no expiry rule
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
		w.form, w.rowTimestamp, w.properties = statement.Swap, now.Timestamp, statement.Bytes(row.Properties)
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

// planAll returns the writes of several mutations, in the order in which all servers lock rows.
func planAll(name string, m []table.Mutation, states []state, d *ruled.Table) ([]*write, error) {
	list := make([]*write, len(m))
	var line table.FeedLine
	for i := range m {
		var now *state
		var row *table.Row
		if states != nil {
			now, row = &states[i], states[i].row
		}
		var w *write
		var effect table.Effect
		var err error
		if d.Ends() {
			w = &write{name: name, key: m[i].Key, nonce: m[i].Nonce, properties: statement.Bytes(m[i].Properties), declared: d}
			effect, err = planRuled(w, &m[i], now)
		} else {
			w, err = plan(name, &m[i], row)
		}
		if err != nil {
			return nil, &table.Refused{Index: i, Err: err}
		}
		if list[i], w.declared = w, d; d.Rules().Feeds() {
			line.Add(&m[i], &effect)
		}
	}
	slices.SortFunc(list, compareWrites)
	list[0].line = line.Bytes()
	return list, nil
}

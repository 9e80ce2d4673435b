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

// plan chooses the statement of a write. The parameter now is the state of the entity, or nil if it is unknown.
func plan(w *write, m *table.Mutation, now *state) (effect table.Effect, err error) {
	switch {
	case m.Kind == table.Put && m.Condition == table.Always:
		w.form = statement.Upsert
	case needsState(m, w.declared) || w.declared.Ends() && now != nil:
		return planFrom(w, m, now)
	case m.Condition == table.Absent:
		w.form = statement.Insert
	case m.Condition == table.Present:
		w.form = statement.Update
	default:
		w.form, w.rowTimestamp = statement.Swap, m.IfMatch
	}
	if m.Kind == table.Delete {
		w.properties = nil
	}
	return effect, nil
}

// planFrom chooses the statement of a write that depends on the state of its entity. The statement is applied only if
// the entity still has the Timestamp of this state. So if another server has written the entity in the meantime, the
// write fails.
func planFrom(w *write, m *table.Mutation, now *state) (effect table.Effect, err error) {
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

// planAll returns the writes of several mutations, in the order in which all servers lock rows.
func planAll(name string, m []table.Mutation, states []state, d *ruled.Table) ([]*write, error) {
	list := make([]*write, len(m))
	var line table.FeedLine
	for i := range m {
		var now *state
		if states != nil {
			now = &states[i]
		}
		list[i] = &write{name: name, key: m[i].Key, nonce: m[i].Nonce, properties: statement.Bytes(m[i].Properties), declared: d}
		effect, err := plan(list[i], &m[i], now)
		if err != nil {
			return nil, &table.Refused{Index: i, Err: err}
		}
		if d.Rules().Feeds() {
			line.Add(&m[i], &effect)
		}
	}
	slices.SortFunc(list, compareWrites)
	list[0].line = line.Bytes()
	return list, nil
}

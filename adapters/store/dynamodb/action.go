package dynamodb

import (
	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// action is one mutation of a Commit in progress.
type action struct {
	m *table.Mutation
	// A pinned action applies only if the stored entity has the state in the field old. If old is nil, there must be no
	// stored entity.
	pinned bool
	old    *stored
	// row is the new entity. It is nil for a delete, and for a merge that is not pinned.
	row     *table.Row
	pending *chunkWrite
}

func (a *action) needsOldState() bool {
	return a.m.Kind == table.Merge && a.m.Condition != table.Absent
}

// dependsOnExpiry reports whether the action's condition must check that the stored entity has not expired. This is not
// necessary for an unconditional replace, nor for an insert: after an insert has failed, the store checks whether the
// existing entity has expired.
func (a *action) dependsOnExpiry() bool { return a.needsOldState() || a.m.Condition >= table.Present }

func (a *action) allows(e *stored) bool {
	switch a.m.Condition {
	case table.Absent:
		return e == nil
	case table.Present:
		return e != nil
	case table.Unchanged:
		return e != nil && e.Timestamp == a.m.IfMatch
	}
	return true
}

// isWithinLimits reports whether the merged entity is certain to be within the limits, according to the upper bounds
// that are stored with the entity.
func (a *action) isWithinLimits(e *stored, inline int) bool {
	return e == nil || e.chunks.none() &&
		e.count+a.m.Properties.Count() <= maxProperties && e.size+patchSize(a.m.Properties) <= inline
}

// conditionHolds reports whether the stored entity e meets the condition with which the action was sent to DynamoDB.
func (a *action) conditionHolds(e *stored, inline int, now edm.Ticks) bool {
	switch {
	case a.pinned && a.old == nil:
		return e == nil
	case a.pinned:
		return e != nil && e.Timestamp == a.old.Timestamp
	case !a.allows(e):
		return false
	case e == nil:
		return true
	}
	return e.Timestamp < now && e.chunks.none() && (!a.needsOldState() || a.isWithinLimits(e, inline))
}

// apply sets a.row to the new entity. It sets a.row to nil if the action removes the entity, or needs an old state that
// is unknown.
func (a *action) apply(t *table.Traits, now edm.Ticks) error {
	switch {
	case a.pinned:
		var old *table.Row
		if a.old != nil {
			old = &a.old.Row
		}
		effect, err := t.Apply(old, *a.m, now)
		a.row = effect.Row
		return err
	case a.m.Kind.Removes() || a.needsOldState():
		a.row = nil
	default:
		a.row = &table.Row{Key: a.m.Key, Timestamp: now, Nonce: a.m.Nonce, Properties: a.m.Properties}
	}
	return nil
}

// addCondition adds the condition of an action that is not pinned. If the condition does not depend on expiry, its text
// comes from a shared template.
func (a *action) addCondition(e *call.Expression, inline int, t *table.Traits, now edm.Ticks) {
	m := a.m
	if t != nil && a.dependsOnExpiry() {
		writeDemand(e, m.Condition, a.needsOldState())
		demandLife(e, t, now)
	} else if a.needsOldState() {
		conditionTemplates[m.Condition][1].Start(e)
	} else {
		conditionTemplates[m.Condition][0].Start(e)
	}
	if a.needsOldState() {
		e.Bind(":n", attribute.Number(maxProperties-m.Properties.Count()))
		e.Bind(":z", attribute.Number(inline-patchSize(m.Properties)))
	}
	if m.Condition != table.Absent {
		e.Bind(":t", attribute.Number(now))
	}
	if m.Condition == table.Unchanged {
		e.Bind(":m", attribute.Number(m.IfMatch))
	}
}

// conditionTemplates contains the conditions of actions that are not pinned. The first index is the [table.Condition].
// The second index is 1 for a merge and 0 for other mutations.
var conditionTemplates = func() (all [4][2]call.Template) {
	for c := range all {
		for merges := range all[c] {
			var e call.Expression
			writeDemand(&e, table.Condition(c), merges == 1)
			all[c][merges] = e.Template()
		}
	}
	return all
}()

// writeDemand writes the condition of an action that is not pinned:
//   - The entity meets the condition of the mutation.
//   - An existing entity has no chunks, and its Timestamp is below the Timestamp of the write.
//   - A merge does not exceed the limits, according to the stored upper bounds.
func writeDemand(e *call.Expression, c table.Condition, merges bool) {
	if c == table.Absent {
		e.IfMissing(attrHash)
		return
	}
	if c == table.Always {
		e.IfMissing(attrHash)
		e.Or()
	}
	e.If(attrTicks, "<", ":t", nil)
	if c == table.Unchanged {
		e.If(attrTicks, "=", ":m", nil)
	}
	e.IfMissing(attrChunks)
	if merges {
		e.If(attrCount, "<=", ":n", nil)
		e.If(attrSize, "<=", ":z", nil)
	}
}

// mergeUpdate writes the update of a merge that is not pinned. It increases the stored upper bounds as if the entity
// had none of the merge's properties yet.
func mergeUpdate(e *call.Expression, m *table.Mutation, now edm.Ticks) {
	e.Set(attrTicks, ":t", attribute.Number(now))
	e.Set(attrNonce, ":o", nonce(m.Nonce))
	e.Add(attrCount, ":c", attribute.Number(0), ":k", attribute.Number(m.Properties.Count()))
	e.Add(attrSize, ":e", attribute.Number(ownSize+len(m.Key)), ":b", attribute.Number(patchSize(m.Properties)))
	i := 0
	for name, v := range m.Properties.All() {
		e.SetProperty(i, name, attribute.Of(v))
		i++
	}
}

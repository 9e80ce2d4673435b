package dynamodb

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// action is one mutation of a Commit on its way.
type action struct {
	m *table.Mutation
	// pinned: the action replaces just this old state; nil is no entity.
	pinned bool
	old    *stored
	// row is the after-image; nil for a delete, and for a merge that is not pinned.
	row     *table.Row
	pending *pending
}

// merges reports whether the after-image depends on the old state.
func (a *action) merges() bool { return a.m.Kind == table.Merge && a.m.Condition != table.Absent }

// allows reports whether the mutation's own condition holds for a state.
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

// fits reports whether a merge may be carried out by the bounds of a state. It is
// the condition of the merge's update.
func (a *action) fits(e *stored, inline int) bool {
	return e == nil || e.chunks.none() &&
		e.count+a.m.Properties.Count() <= maxProperties && e.size+patchSize(a.m.Properties) <= inline
}

// holds reports whether the action's condition holds for a state.
func (a *action) holds(e *stored, inline int, now edm.Ticks) bool {
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
	return e.Timestamp < now && e.chunks.none() && (!a.merges() || a.fits(e, inline))
}

// apply makes the after-image, if it can be known.
func (a *action) apply(now edm.Ticks) (err error) {
	switch {
	case a.pinned:
		var old *table.Row
		if a.old != nil {
			old = &a.old.Row
		}
		a.row, err = table.Apply(old, *a.m, now)
	case a.m.Kind == table.Delete || a.merges():
		a.row = nil
	default:
		a.row = &table.Row{Key: a.m.Key, Timestamp: now, Nonce: a.m.Nonce, Properties: a.m.Properties}
	}
	return err
}

// request is the action as part of a transaction.
func (w *write) request(a *action, now edm.Ticks) types.TransactWriteItem {
	const allOld = types.ReturnValuesOnConditionCheckFailureAllOld
	var e expression
	var condition *string
	switch {
	case a.pinned && a.old == nil:
		e.missing(attrHash)
		condition = e.String()
	case a.pinned:
		e.compare(attrTicks, " = ", ":m", num(a.old.Timestamp))
		condition = e.String()
	default:
		condition = w.demand(&e, a.m, now)
	}
	switch {
	case a.row != nil:
		var c chunks
		if a.pending != nil {
			c = a.pending.new
		}
		return types.TransactWriteItem{Put: &types.Put{
			TableName: w.table, Item: entityItem(w.hash, a.row, c),
			ConditionExpression: condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: allOld,
		}}
	case a.m.Kind == table.Delete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: w.table, Key: keyOf(w.hash, a.m.Key),
			ConditionExpression: condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: allOld,
		}}
	}
	mergeUpdate(&e, a.m, now)
	return types.TransactWriteItem{Update: &types.Update{
		TableName: w.table, Key: keyOf(w.hash, a.m.Key), UpdateExpression: e.String(),
		ConditionExpression: condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: allOld,
	}}
}

// demand is the condition of an action that is not pinned; e gets its names and
// values. The text and the names are the same for all such actions.
func (w *write) demand(e *expression, m *table.Mutation, now edm.Ticks) *string {
	merges := m.Kind == table.Merge && m.Condition != table.Absent
	d := &demands[m.Condition][0]
	if merges {
		d = &demands[m.Condition][1]
	}
	e.names = d.names
	if m.Condition != table.Absent {
		e.values = item{":t": num(now)}
	}
	if m.Condition == table.Unchanged {
		e.values[":m"] = num(m.IfMatch)
	}
	if merges {
		e.names = maps.Clone(d.names) // the update has more
		e.values[":n"] = num(maxProperties - m.Properties.Count())
		e.values[":z"] = num(w.inline - patchSize(m.Properties))
	}
	return d.text
}

// demands are what actions that are not pinned demand, by their condition, and
// whether they merge.
var demands = func() (all [4][2]struct {
	text  *string
	names map[string]string
}) {
	for c := range all {
		for merges := range all[c] {
			var e expression
			writeDemand(&e, table.Condition(c), merges == 1)
			all[c][merges].text, all[c][merges].names = e.String(), e.names
		}
	}
	return all
}()

// writeDemand writes what an action that is not pinned demands: what its mutation
// does, an older Timestamp, no chunks to clear up, and of a merge that the bounds
// leave room for it.
func writeDemand(e *expression, c table.Condition, merges bool) {
	if c == table.Absent {
		e.missing(attrHash)
		return
	}
	if c == table.Always {
		e.missing(attrHash)
		e.write(" OR ")
	}
	e.compare(attrTicks, " < ", ":t", nil)
	if c == table.Unchanged {
		e.write(" AND ")
		e.compare(attrTicks, " = ", ":m", nil)
	}
	e.write(" AND ")
	e.missing(attrChunks)
	if merges {
		e.write(" AND ")
		e.compare(attrCount, " <= ", ":n", nil)
		e.write(" AND ")
		e.compare(attrSize, " <= ", ":z", nil)
	}
}

// mergeUpdate writes a merge that is not pinned. It counts each property as new:
// the bounds are from above.
func mergeUpdate(e *expression, m *table.Mutation, now edm.Ticks) {
	e.write("SET ")
	e.compare(attrTicks, "=", ":t", num(now))
	e.write(",")
	e.compare(attrNonce, "=", ":o", nonce(m.Nonce))
	e.bound(attrCount, ":c", 0, ":k", m.Properties.Count())
	e.bound(attrSize, ":e", ownSize+len(m.Key), ":b", patchSize(m.Properties))
	i := 0
	for name, v := range m.Properties.All() {
		e.write(",")
		e.property(i, name, attribute(v))
		i++
	}
}

// bound writes: attr = what it was, else base, + n.
func (e *expression) bound(attr, basePlaceholder string, base int, placeholder string, n int) {
	e.write(",")
	e.name(attr)
	e.write("=if_not_exists(")
	e.name(attr)
	e.write(",")
	e.value(basePlaceholder, num(base))
	e.write(")+")
	e.value(placeholder, num(n))
}

// property writes: name = value, under the ith pair of placeholders. They have
// three characters, so that 252 of them fit an expression; those of our own
// attributes have two.
func (e *expression) property(i int, name string, v types.AttributeValue) {
	placeholder := "#" + digits2(i)
	e.names[placeholder] = name
	e.write(placeholder)
	e.write("=")
	e.value(":"+placeholder[1:], v)
}

// single sends the one action of a Commit by itself, at half the price.
func (w *write) single(ctx context.Context, r *types.TransactWriteItem) error {
	return w.attempt(ctx, func(ctx context.Context) (err error) {
		switch {
		case r.Put != nil:
			_, err = w.client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: r.Put.TableName, Item: r.Put.Item, ConditionExpression: r.Put.ConditionExpression,
				ExpressionAttributeNames: r.Put.ExpressionAttributeNames, ExpressionAttributeValues: r.Put.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: r.Put.ReturnValuesOnConditionCheckFailure,
			})
		case r.Update != nil:
			_, err = w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: r.Update.TableName, Key: r.Update.Key,
				UpdateExpression: r.Update.UpdateExpression, ConditionExpression: r.Update.ConditionExpression,
				ExpressionAttributeNames: r.Update.ExpressionAttributeNames, ExpressionAttributeValues: r.Update.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: r.Update.ReturnValuesOnConditionCheckFailure,
			})
		default:
			_, err = w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: r.Delete.TableName, Key: r.Delete.Key, ConditionExpression: r.Delete.ConditionExpression,
				ExpressionAttributeNames: r.Delete.ExpressionAttributeNames, ExpressionAttributeValues: r.Delete.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: r.Delete.ReturnValuesOnConditionCheckFailure,
			})
		}
		return err
	})
}

package storetest

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// proofKind is the choice of an entity. The nonce of this entity proves that the store has applied client A's write.
type proofKind uint8

const (
	atRow     proofKind = iota // the entity p/r, which other clients also write
	elsewhere                  // an entity that only client A writes
	nowhere                    // no entity, because client A only deletes
)

// attempt is a write by client A that fails, or whose reply is lost.
type attempt struct {
	what        string
	exists      bool // whether the entity p/r exists before the write
	conditioned bool // whether the write demands the ETag of p/r
	shows       proofKind
	needs       Strengths
	operations  func(etag edm.Ticks) []table.Operation
}

func operation(a table.Action, row string, match table.Match) table.Operation {
	op := table.Operation{Action: a, PartitionKey: "p", RowKey: row, IfMatch: match}
	if a != table.DeleteEntity {
		op.Properties = text("A's")
	}
	return op
}

func one(a table.Action) func(edm.Ticks) []table.Operation {
	return func(edm.Ticks) []table.Operation {
		return []table.Operation{operation(a, "r", table.Match{Any: true})}
	}
}

func onETag(actions ...table.Action) func(edm.Ticks) []table.Operation {
	return func(etag edm.Ticks) []table.Operation {
		ops := []table.Operation{operation(actions[0], "r", table.Match{Timestamp: etag})}
		for i, a := range actions[1:] {
			ops = append(ops, operation(a, fmt.Sprint("with", i), table.Match{Any: true}))
		}
		return ops
	}
}

var (
	conditional = Strengths{Conditional: true}
	atomic2     = Strengths{Conditional: true, AtomicCommit: true}
	attempts    = []attempt{
		{"insert", false, false, atRow, conditional, one(table.Insert)},
		{"insert-or-replace, new", false, false, atRow, Strengths{}, one(table.InsertOrReplace)},
		{"insert-or-replace", true, false, atRow, Strengths{}, one(table.InsertOrReplace)},
		{"insert-or-merge, new", false, false, atRow, Strengths{}, one(table.InsertOrMerge)},
		{"insert-or-merge", true, false, atRow, Strengths{}, one(table.InsertOrMerge)},
		{"update *", true, false, atRow, conditional, one(table.Update)},
		{"merge *", true, false, atRow, conditional, one(table.MergeEntity)},
		{"delete *", true, false, nowhere, conditional, one(table.DeleteEntity)},
		{"update by ETag", true, true, atRow, conditional, onETag(table.Update)},
		{"merge by ETag", true, true, atRow, conditional, onETag(table.MergeEntity)},
		{"delete by ETag", true, true, nowhere, conditional, onETag(table.DeleteEntity)},
		{"batch of inserts", false, false, atRow, atomic2, func(edm.Ticks) []table.Operation {
			return []table.Operation{operation(table.Insert, "r", table.Match{}), operation(table.Insert, "s", table.Match{})}
		}},
		{"batch with an ETag", true, true, atRow, atomic2, onETag(table.Update, table.Insert)},
		{"batch with a delete by ETag", true, true, elsewhere, atomic2, onETag(table.DeleteEntity, table.InsertOrReplace)},
		{"batch of a delete and an upsert", true, false, elsewhere, atomic2, func(edm.Ticks) []table.Operation {
			return []table.Operation{
				operation(table.DeleteEntity, "r", table.Match{Any: true}),
				operation(table.InsertOrMerge, "s", table.Match{}),
			}
		}},
	}
)

// writesBetween lists what other clients may write to p/r after client A's Commit has failed and before client A
// continues.
var writesBetween = []struct {
	what  string
	needs Strengths
	do    func(e *env, doc table.RecordKey)
}{
	{"nobody does anything", Strengths{}, nil},
	{"B overwrites", Strengths{}, func(e *env, doc table.RecordKey) { e.commitAsOther(doc, put("p", "r", "B's")) }},
	{"B deletes", conditional, func(e *env, doc table.RecordKey) { e.commitAsOther(doc, remove("p", "r")) }},
	{"B deletes and C inserts", conditional, func(e *env, doc table.RecordKey) {
		e.commitAsOther(doc, remove("p", "r"))
		e.commitAsOther(doc, absent(put("p", "r", "C's")))
	}},
}

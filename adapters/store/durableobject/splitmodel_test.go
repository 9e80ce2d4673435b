package durableobject_test

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// entityStep is an operation on one entity: a write, a read, or the drop of its table.
type entityStep struct {
	write, drop bool
	mutation    table.Mutation
}

// entityAnswer is the answer to an entityStep.
type entityAnswer struct {
	ticks   edm.Ticks
	nonce   uint64
	there   bool
	unknown bool
	refused string
}

// entityState is the state of an entity. highest is the highest Timestamp that it ever had.
type entityState struct {
	there   bool
	ticks   edm.Ticks
	nonce   uint64
	highest edm.Ticks
}

var entityModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{entityState{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(entityState), input.(entityStep), output.(entityAnswer)
		switch {
		case in.drop:
			return []any{entityState{highest: s.highest}}
		case !in.write:
			if out.there != s.there || s.there && (out.nonce != s.nonce || s.ticks != 0 && out.ticks != s.ticks) {
				return nil
			}
			if s.there {
				s.ticks, s.highest = out.ticks, max(s.highest, out.ticks)
			}
			return []any{s}
		}
		return stepOf(s, in.mutation, out)
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(entityStep), output.(entityAnswer)
		switch {
		case in.drop:
			return "drop"
		case in.write:
			return fmt.Sprintf("write kind %d condition %d nonce %x → %d %q unknown %t", in.mutation.Kind, in.mutation.Condition, in.mutation.Nonce, out.ticks, out.refused, out.unknown)
		}
		return fmt.Sprintf("read → %t %x @%d", out.there, out.nonce, out.ticks)
	},
}).ToModel()

// stepOf returns the possible states after a write.
func stepOf(s entityState, m table.Mutation, out entityAnswer) []any {
	var old *table.Row
	if s.there {
		old = &table.Row{Key: m.Key, Timestamp: max(s.ticks, 1), Nonce: s.nonce}
	}
	row, err := table.Apply(old, m, out.ticks)
	if out.unknown {
		next := []any{s}
		if err == nil {
			// No read has shown the Timestamp of the write yet.
			next = append(next, entityState{there: row != nil, nonce: m.Nonce, highest: s.highest})
		}
		return next
	}
	if err != nil || out.refused != "" {
		if err != nil && out.refused == err.Error() {
			return []any{s}
		}
		return nil
	}
	if out.ticks <= s.highest {
		return nil // Timestamps of a key rise
	}
	return []any{entityState{there: row != nil, ticks: out.ticks, nonce: m.Nonce, highest: out.ticks}}
}

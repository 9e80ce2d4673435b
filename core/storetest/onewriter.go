package storetest

import (
	"errors"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// OneWriter writes to a table while faults are injected. As the only writer, it issues only valid writes. If the store
// refuses a write, the store has applied an earlier write twice or lost one.
type OneWriter struct {
	Store table.Store
	Table table.RecordKey
	Rand  func(n int) int
	// Before is called before each write, and may start to inject faults. Settle stops the faults, and waits until no
	// message is in transit.
	Before, Settle func()
	// NotDone reports whether an error proves that the write was not applied and never will be applied. ErrBusy always
	// proves this. NotDone may be nil.
	NotDone func(error) bool
}

// Run makes many writes. It fails the test if too few outcomes are known, or if no outcome is
// unknown.
func (w *OneWriter) Run(t testing.TB, writes int) {
	t.Helper()
	known, unknown := 0, 0
	state := make(map[string]edm.Ticks) // the Timestamp of each entity; 0 if the entity does not exist
	for i := range writes {
		row := string(rune('a' + w.Rand(3)))
		m := table.Mutation{Key: key.Append(nil, "p", row), Nonce: uint64(i) + 1, Properties: edm.AppendProperty(nil, "v", edm.Int32(int32(i)))}
		switch ticks := state[row]; {
		case ticks == 0:
			m.Condition = table.Absent
		case w.Rand(2) == 0:
			m.Kind, m.Condition, m.Properties = table.Delete, table.Present, nil
		default:
			m.Condition, m.IfMatch = table.Unchanged, ticks
		}
		w.Before()
		ticks, err := w.Store.Commit(t.Context(), w.Table, []table.Mutation{m})
		switch {
		case err == nil:
			known++
			if state[row] = ticks; m.Kind == table.Delete {
				state[row] = 0
			}
		case errors.Is(err, table.ErrBusy) || w.NotDone != nil && w.NotDone(err):
		case errors.Is(err, table.ErrUnknown):
			unknown++
			w.Settle()
			found, err := w.Store.Get(t.Context(), w.Table, m.Key, table.Strong)
			if err != nil && !errors.Is(err, table.ErrNoEntity) {
				t.Fatal(err)
			}
			state[row] = found.Timestamp
		default:
			t.Fatalf("write %d of %s, %s: %v", i, row, describe([]table.Mutation{m}), err)
		}
	}
	if known < writes/6 || unknown == 0 {
		t.Errorf("of %d writes the outcomes of %d were known, of %d unknown: the test proves nothing", writes, known, unknown)
	}
}

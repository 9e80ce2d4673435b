package dynamodb_test

import (
	"errors"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestFrozenDuringWrite freezes a process that has written the chunks of an entity, until
// Purge has removed these chunks. When the process continues, it must not write the
// entity.
func TestFrozenDuringWrite(t *testing.T) {
	t.Parallel()
	for what, m := range map[string][]table.Mutation{
		"one":   {upsert("r", large(900_000))},
		"batch": {upsert("r", large(900_000)), upsert("s", nil)},
	} {
		clock := now
		s, w := overWire(t, dynamodb.Options{Now: func() edm.Ticks { return clock() }})
		others := open(t, dynamodb.Options{Table: w.table, Now: func() edm.Ticks { return clock() }})
		batches := w.freezeBehindChunks(t, others, &clock)
		if _, err := s.Commit(t.Context(), people, m); !errors.Is(err, table.ErrBusy) || *batches < 2 {
			t.Errorf("%s: Commit: %v after %d batches", what, err, *batches)
		}
		if _, err := s.Get(t.Context(), people, key.Append(nil, "p", "r"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
			t.Errorf("%s: Get: %v", what, err)
		}
		if _, err := s.Commit(t.Context(), people, m); err != nil {
			t.Errorf("%s: again: %v", what, err)
		}
	}
}

// TestFrozenDuringRebucket freezes a run of Rebucket after it has written the chunks of
// an entity. The run must not write the entity into the copy of the table.
func TestFrozenDuringRebucket(t *testing.T) {
	t.Parallel()
	clock := now
	s, w := overWire(t, dynamodb.Options{Buckets: 2, Now: func() edm.Ticks { return clock() }})
	others := open(t, dynamodb.Options{Table: w.table, Now: func() edm.Ticks { return clock() }})
	if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert("r", large(900_000))}); err != nil {
		t.Fatal(err)
	}
	batches := w.freezeBehindChunks(t, others, &clock)
	if err := s.Rebucket(t.Context(), people, rebucket.Options{Buckets: 3}); !errors.Is(err, table.ErrBusy) || *batches < 2 {
		t.Errorf("Rebucket: %v after %d batches", err, *batches)
	}
	if err := s.Rebucket(t.Context(), people, rebucket.Options{Buckets: 3}); err != nil {
		t.Errorf("Rebucket, gone on with: %v", err)
	}
	row, err := s.Get(t.Context(), people, key.Append(nil, "p", "r"), table.Strong)
	if err != nil || len(row.Properties) < 900_000 {
		t.Errorf("Get: %d bytes, %v", len(row.Properties), err)
	}
}

// freezeBehindChunks freezes the process whose HTTP client is w. The process stands still
// for two hours after its first write of chunks. Meanwhile, another process runs Purge.
// The result counts the batches that the frozen process has written.
func (w *wire) freezeBehindChunks(t *testing.T, others *dynamodb.Store, clock *func() edm.Ticks) *int {
	batches := new(int)
	freeze := func() {
		if *batches++; *batches != 2 { // the first batch contains the note for Purge, the second batch contains the chunks
			return
		}
		*clock = func() edm.Ticks { return now() + 2*3600*edm.TicksPerSecond }
		if err := others.Purge(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	w.always = func(operation string) fault {
		if operation == "BatchWriteItem" {
			return fault{then: freeze}
		}
		return fault{}
	}
	return batches
}

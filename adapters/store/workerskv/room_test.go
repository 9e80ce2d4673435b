package workerskv_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// A writer that has no room to remember what it writes is sent away, however the
// bytes come about: a journal is written as a whole for the smallest of
// transactions. Nothing is forgotten that KV does not show yet.
func TestNothingIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	clock := steady()
	s := w.isolate(clock, workerskv.Options{SingleWriter: true, Memory: 1 << 20, Interval: time.Second})
	w.create(s, 1)
	batch := func(partition string, round, size int) []table.Mutation {
		var m []table.Mutation
		for i := range 2 {
			one := number(partition, fmt.Sprintf("%d-%d", round, i), int32(round))
			one.Condition = table.Absent
			one.Properties = edm.AppendProperty(one.Properties, "b", edm.Binary(make([]byte, size)))
			m = append(m, one)
		}
		return m
	}
	// Journals that are not remembered any more, then as much as can be remembered,
	// then a little more for the old journals.
	var done [][]table.Mutation
	busy := 0
	for round := range 24 {
		if round == 8 {
			w.wait(115 * time.Second)
		}
		m := batch(fmt.Sprint("pq"[round/8%2:round/8%2+1], round%8), round, 50_000)
		if round >= 16 {
			m = batch(fmt.Sprint("p", round%8), round, 10)
		}
		switch _, err := s.Commit(t.Context(), tableName, m); {
		case err == nil:
			done = append(done, m)
		case errors.Is(err, table.ErrBusy):
			busy++
		default:
			t.Fatal(err)
		}
		if round == 15 {
			w.wait(6 * time.Second) // the first are older than two minutes
		}
	}
	for _, m := range done {
		for range 20 { // each may be old
			if _, err := s.Get(t.Context(), tableName, m[0].Key, table.Strong); err != nil {
				t.Fatalf("%q is gone: %v", m[0].Key, err)
			}
		}
	}
	if len(done) < 10 || busy == 0 {
		t.Errorf("%d transactions were done, %d sent away", len(done), busy)
	}
}

// What a small write makes of a large entity is remembered as well, and so are
// writes that are under way at the same time.
func TestNothingIsForgottenOfEntities(t *testing.T) {
	t.Parallel()
	const size, rows = 100_000, 20
	for what, write := range map[string]func(commit func(table.Mutation)){
		"merges": func(commit func(table.Mutation)) {
			for i := range rows {
				commit(merge(fmt.Sprint(i), "merged"))
			}
		},
		"at once": func(commit func(table.Mutation)) {
			var all sync.WaitGroup
			for i := range rows {
				m := merge(fmt.Sprint(i), "merged")
				m.Properties = edm.AppendProperty(m.Properties, "b", edm.Binary(make([]byte, size)))
				all.Go(func() { commit(m) })
			}
			all.Wait()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, s := bubble(t, workerskv.Options{SingleWriter: true, Memory: 1 << 20})
			for i := range rows {
				time.Sleep(20 * time.Second)
				m := number("p", fmt.Sprint(i), 1)
				m.Properties = edm.AppendProperty(m.Properties, "b", edm.Binary(make([]byte, size)))
				if _, err := s.Commit(t.Context(), tableName, []table.Mutation{m}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(3 * time.Minute)
			var mu sync.Mutex
			done := 0
			write(func(m table.Mutation) {
				_, err := s.Commit(t.Context(), tableName, []table.Mutation{m})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done++
				} else if !errors.Is(err, table.ErrBusy) {
					t.Errorf("%s: %v", what, err)
				}
			})
			if n := len(s.Memos()); n != done || done < 5 || done == rows {
				t.Errorf("%s: %d writes were done, %d are remembered", what, done, n)
			}
		})
	}
}

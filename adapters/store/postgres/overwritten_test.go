package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// TestOverwritten lets clients of three servers increment a number in one entity, while
// connections break. The store must find out the outcomes of lost writes although other
// servers overwrite the entity. Each client must get an outcome. Each acknowledged merge
// must be counted once.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	o := postgres.Options{Schema: newSchema(t, shared)}
	var servers [3]*postgres.Store
	var wires [3]wire
	for i := range servers {
		o := o
		o.Dial = wires[i].dial
		servers[i] = open(t, shared, o)
	}
	create(t, servers[0])
	counter := row("p", "counter")
	_, err := servers[0].Commit(t.Context(), people, []table.Mutation{{Key: counter, Nonce: 1, Properties: edm.AppendProperty(nil, "N", edm.Int64(0))}})
	must.OK(t, err)
	const each = 40
	var all sync.WaitGroup
	for id := range 6 {
		s, w := servers[id%3], &wires[id%3]
		all.Go(func() {
			for i := range each {
				if i%5 == id%5 {
					w.cut()
				}
				for {
					now, err := s.Get(t.Context(), people, counter, table.Strong)
					if err != nil {
						t.Error(err)
						return
					}
					n := number(now)
					_, err = s.Commit(t.Context(), people, []table.Mutation{{Key: counter, Nonce: 1, Kind: table.Merge, Condition: table.Unchanged, IfMatch: now.Timestamp,
						Properties: edm.AppendProperty(nil, "N", edm.Int64(n+1))}})
					if err == nil {
						break
					}
					if refused, ok := errors.AsType[*table.Refused](err); !ok || !errors.Is(refused.Err, table.ErrChanged) {
						t.Errorf("a merge: %v", err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	now, err := servers[0].Get(t.Context(), people, counter, table.Strong)
	must.OK(t, err)
	if n := number(now); n != 6*each {
		t.Errorf("the counter is %d after %d merges", n, 6*each)
	}
}

func number(r table.Row) int64 {
	for _, v := range r.Properties.All() {
		return v.Int()
	}
	return 0
}

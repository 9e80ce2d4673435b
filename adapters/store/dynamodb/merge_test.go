package dynamodb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

var people = table.RecordKey{Account: "acct", Table: "people"}

func create(t testing.TB, s table.Store) {
	t.Helper()
	d := table.Record{Key: people, Incarnation: table.Incarnation{1}}
	if _, err := s.WriteRecord(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// TestApply checks that the store stores exactly what [table.Apply] computes, for random
// mutations. A merge takes only one call while the entity is below three limits: the
// number of properties, the size of an entity, and the size above which an entity is
// stored in chunks. The mutations are near these limits.
func TestApply(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 5))
			s := open(t, dynamodb.Options{Table: newTable(t), Buckets: uint16(1 + seed%3)})
			create(t, s)
			model := make(map[string]table.Row)
			for step := range 80 {
				m := mutations(rnd, model)
				what := fmt.Sprintf("step %d: %s", step, describe(m))
				ticks, err := s.Commit(t.Context(), people, m)
				var want error
				next := make(map[string]*table.Row)
				for i := range m {
					var old *table.Row
					if r, ok := model[string(m[i].Key)]; ok {
						old = &r
					}
					row, err := table.Apply(old, m[i], ticks)
					if err != nil {
						want = &table.Refused{Index: i, Err: err}
						break
					}
					next[string(m[i].Key)] = row
				}
				if fmt.Sprint(err) != fmt.Sprint(want) {
					t.Fatalf("%s\ngot %v, want %v", what, err, want)
				}
				if want == nil {
					for k, row := range next {
						delete(model, k)
						if row != nil {
							model[k] = *row
						}
					}
				}
				for i := range m {
					row, err := s.Get(t.Context(), people, m[i].Key, table.Strong)
					want, ok := model[string(m[i].Key)]
					if ok != (err == nil) || err != nil && !errors.Is(err, table.ErrNoEntity) {
						t.Fatalf("%s\nGet: %v; there should be one: %v", what, err, ok)
					}
					if ok && (row.Timestamp != want.Timestamp || row.Nonce != want.Nonce || !equal(row.Properties, want.Properties)) {
						t.Fatalf("%s\nmutation %d: got @%d #%d %d properties, want @%d #%d %d", what, i,
							row.Timestamp, row.Nonce, row.Properties.Count(), want.Timestamp, want.Nonce, want.Properties.Count())
					}
				}
			}
		})
	}
}

func equal(a, b edm.Properties) bool { return slices.Equal(sorted(a), sorted(b)) }

func sorted(p edm.Properties) []string {
	var list []string
	for name, v := range p.All() {
		list = append(list, string(edm.AppendProperty(nil, name, v)))
	}
	slices.Sort(list)
	return list
}

func describe(m []table.Mutation) (s string) {
	for _, one := range m {
		s += fmt.Sprintf("[%q kind %d condition %d, %d properties of %d bytes] ",
			one.Key, one.Kind, one.Condition, one.Properties.Count(), len(one.Properties))
	}
	return s
}

// mutations returns a random Commit of a few entities, most often of one entity.
func mutations(rnd *rand.Rand, model map[string]table.Row) []table.Mutation {
	keys := rnd.Perm(6)[:1+rnd.IntN(6)*rnd.IntN(2)]
	var m []table.Mutation
	for _, k := range keys {
		one := table.Mutation{
			Key: key.Append(nil, "p", string(rune('a'+k))), Kind: table.Kind(rnd.IntN(3)), Nonce: rnd.Uint64(),
			Condition: table.Condition(rnd.IntN(4)),
		}
		if rnd.IntN(3) > 0 {
			one.Kind, one.Condition = table.Merge, table.Always
		}
		old, there := model[string(one.Key)]
		if one.Kind == table.Delete && one.Condition < table.Present {
			one.Condition = table.Present
		}
		if one.Condition == table.Unchanged && there && rnd.IntN(4) > 0 {
			one.IfMatch = old.Timestamp
		}
		if one.Kind != table.Delete {
			one.Properties = patch(rnd)
		}
		m = append(m, one)
	}
	return m
}

// patch returns some random properties with a few different names. Most are small, and
// some are large. Sometimes there are many.
func patch(rnd *rand.Rand) (p edm.Properties) {
	switch rnd.IntN(6) {
	case 0:
		from := rnd.IntN(200)
		for i := range 60 + rnd.IntN(100) {
			p = edm.AppendProperty(p, fmt.Sprint("n", from+i), edm.Int32(int32(i)))
		}
		return p
	case 1:
		from := rnd.IntN(12)
		for i := range 1 + rnd.IntN(6) {
			b := make([]byte, 30_000+rnd.IntN(34_000))
			p = edm.AppendProperty(p, fmt.Sprint("b", from+i), edm.Binary(b))
		}
		return p
	}
	for _, i := range rnd.Perm(8)[:rnd.IntN(4)] {
		p = edm.AppendProperty(p, fmt.Sprint("s", i), random(rnd))
	}
	return p
}

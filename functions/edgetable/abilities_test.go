package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/observe"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/traffic"
	"edgetable/testdata/memstore"
)

type able struct{ table.Store }

func (able) Traffic(context.Context, table.RecordKey) (*traffic.Report, error)   { return nil, nil }
func (able) Restore(context.Context, table.RecordKey, edm.Ticks) ([]byte, error) { return nil, nil }
func (able) Replication() table.Replication                                      { return table.Replication{} }
func (able) Declares() (string, bool)                                            { return "", false }

// abilities has a function for each optional interface of a store. The function reports whether a store implements the
// interface.
var abilities = map[string]func(table.Store) bool{
	"Counting":   func(s table.Store) bool { _, ok := table.As[table.Counting](s); return ok },
	"Restoring":  func(s table.Store) bool { _, ok := table.As[table.Restoring](s); return ok },
	"Replicated": func(s table.Store) bool { _, ok := table.As[table.Replicated](s); return ok },
	"Declaring":  func(s table.Store) bool { _, ok := table.As[table.Declaring](s); return ok },
}

// TestAbilitiesKnown checks that the map abilities contains each interface in core/table/ability.go.
func TestAbilitiesKnown(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../core/table/ability.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if _, ok = spec.Type.(*ast.InterfaceType); ok {
			known++
			if abilities[spec.Name.Name] == nil {
				t.Errorf("the ability %s is not tested with wrappers", spec.Name)
			}
		}
		return false
	})
	if known != len(abilities) {
		t.Errorf("core/table/ability.go has %d abilities, this test %d", known, len(abilities))
	}
}

// TestAbilities checks the server's wrappers of stores. A wrapper must not hide an optional interface of
// its store, and must not add an interface that the store lacks. The types of the stores show their
// interfaces, so no store is opened.
func TestAbilities(t *testing.T) {
	t.Parallel()
	stores := map[string]table.Store{
		"durableobject": new(durableobject.Store),
		"dynamodb":      new(dynamodb.Store),
		"pebblestore":   new(pebblestore.Store),
		"postgres":      new(postgres.Store),
		"workerskv":     new(workerskv.Store),
	}
	stores["memstore"] = new(memstore.Store)
	stores["all abilities"] = able{new(memstore.Store)}
	for ability, one := range map[string]table.Store{ // each store here has exactly one optional interface
		"Counting": struct {
			table.Store
			table.Counting
		}{new(memstore.Store), able{}},
		"Restoring": struct {
			table.Store
			table.Restoring
		}{new(memstore.Store), able{}},
		"Replicated": struct {
			table.Store
			table.Replicated
		}{new(memstore.Store), able{}},
		"Declaring": struct {
			table.Store
			table.Declaring
		}{new(memstore.Store), able{}},
	} {
		stores["only "+ability] = one
		for other, has := range abilities {
			if has(one) != (other == ability) {
				t.Errorf("the store with %s alone: %s is %v", ability, other, has(one))
			}
		}
	}
	stores["secondary"] = &follow.Follower{Store: new(pebblestore.Store)}

	traced := func(s table.Store) table.Store {
		return (&observe.Traces{Tracer: noop.NewTracerProvider().Tracer("")}).Store(s, "memory")
	}
	wrappers := map[string]func(table.Store) table.Store{
		"traces": traced,
		"chaos":  new(chaos.Chaos).Store,
		"both":   func(s table.Store) table.Store { return traced(new(chaos.Chaos).Store(s)) },
		"turned": func(s table.Store) table.Store { return new(chaos.Chaos).Store(traced(s)) },
	}
	for kind, s := range stores {
		for wrapper, wrap := range wrappers {
			for ability, has := range abilities {
				if got, want := has(wrap(s)), has(s); got != want {
					t.Errorf("%s around %s: %s is %v, and %v without it", wrapper, kind, ability, got, want)
				}
			}
		}
	}
	for ability, has := range abilities {
		if !has(stores["all abilities"]) {
			t.Errorf("the store with all abilities does not have %s", ability)
		}
	}
}

package main

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/observe"
	"edgetable/core/edm"
	"edgetable/core/memstore"
	"edgetable/core/table"
)

// able is a store with each ability that a store may have beside the port.
type able struct{ table.Store }

func (able) Traffic(context.Context, table.RecordKey, uint16) ([]byte, uint16, error) {
	return nil, 0, nil
}
func (able) Replication() table.Replication { return table.Replication{} }

// TestAbilities: no wrapper of the server hides what a store can do.
func TestAbilities(t *testing.T) {
	t.Parallel()
	traced := func(s table.Store) table.Store {
		return (&observe.Traces{Tracer: noop.NewTracerProvider().Tracer("")}).Store(s, "memory")
	}
	faulty := func(s table.Store) table.Store { return new(chaos.Chaos).Store(s) }
	for name, wrap := range map[string]func(table.Store) table.Store{
		"traces": traced,
		"chaos":  faulty,
		"both":   func(s table.Store) table.Store { return traced(faulty(s)) },
		"turned": func(s table.Store) table.Store { return faulty(traced(s)) },
	} {
		plain := memstore.New(func() edm.Ticks { return 1 })
		s := wrap(able{plain})
		if _, ok := table.As[table.Counting](s); !ok {
			t.Errorf("%s hides that the store counts", name)
		}
		if _, ok := table.As[table.Replicated](s); !ok {
			t.Errorf("%s hides that the store has a replica", name)
		}
		if _, ok := table.As[table.Counting](wrap(plain)); ok {
			t.Errorf("%s pretends that the store counts", name)
		}
	}
}

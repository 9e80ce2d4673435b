package table_test

import (
	"context"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/traffic"
	"edgetable/testdata/memstore"
)

// able is a store that implements all optional abilities.
type able struct{ table.Store }

func (able) Traffic(context.Context, table.RecordKey) (*traffic.Report, error) {
	return &traffic.Report{Table: "counted"}, nil
}

func (able) Replication() table.Replication {
	return table.Replication{Status: table.Bootstrap, LastSync: 7}
}

// These stores wrap another one without changes. The type wrapper has the method Unwrap, and the type sealed has
// no such method.
type (
	wrapper struct{ table.Store }
	sealed  struct{ table.Store }
)

func (w wrapper) Unwrap() table.Store { return w.Store }

func TestAs(t *testing.T) {
	t.Parallel()
	plain := memstore.New(func() edm.Ticks { return 1 })
	for _, row := range []struct {
		name  string
		store table.Store
		want  bool
	}{
		{"none", plain, false},
		{"own", able{plain}, true},
		{"behind two wrappers", wrapper{wrapper{able{plain}}}, true},
		{"above a wrapper", able{wrapper{plain}}, true},
		{"behind a wrapper that hides it", wrapper{sealed{able{plain}}}, false},
		{"a wrapper around nothing", wrapper{}, false},
		{"no store", nil, false},
	} {
		c, counting := table.As[table.Counting](row.store)
		r, replicated := table.As[table.Replicated](row.store)
		if counting != row.want || replicated != row.want {
			t.Errorf("%s: counting %v, replicated %v, want %v", row.name, counting, replicated, row.want)
			continue
		}
		if !row.want {
			continue
		}
		if report, _ := c.Traffic(t.Context(), table.RecordKey{}); report.Table != "counted" || r.Replication().LastSync != 7 {
			t.Errorf("%s: the ability is another store's", row.name)
		}
	}
}

// TestReplication checks that a store without a replica is reported as a secondary that is always current. For any
// other store, Replication must return the state that the store reports.
func TestReplication(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 42 }
	s := newServiceOver(t, memstore.New(now), now, table.Options{})
	if got := s.Replication(); got != (table.Replication{Status: table.Live, LastSync: 42}) {
		t.Errorf("Replication of a store without one: %+v", got)
	}
	s = newServiceOver(t, wrapper{able{memstore.New(now)}}, now, table.Options{})
	if got := s.Replication(); got != (table.Replication{Status: table.Bootstrap, LastSync: 7}) {
		t.Errorf("Replication: %+v", got)
	}
}

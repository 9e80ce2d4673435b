package table_test

import (
	"context"
	"fmt"
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

func (able) Restore(_ context.Context, _ table.RecordKey, to edm.Ticks) ([]byte, error) {
	return fmt.Append(nil, int64(to)), nil
}

// unable is a store whose optional abilities fail.
type unable struct{ table.Store }

func (unable) Traffic(context.Context, table.RecordKey) (*traffic.Report, error) {
	return nil, table.ErrNoTable
}

func (unable) Restore(context.Context, table.RecordKey, edm.Ticks) ([]byte, error) {
	return []byte("part"), table.ErrBusy
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
	if got := fmt.Sprint(table.Live, table.Bootstrap, table.Unavailable); got != "live bootstrap unavailable" {
		t.Errorf("states %s", got)
	}
}

// TestAbilities checks that the Service passes on what the store returns for an optional ability, its error too, and
// that it says so if the store does not have the ability.
func TestAbilities(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 42 }
	for _, tt := range []struct {
		why               string
		store             func(table.Store) table.Store
		name              string
		traffic, restored string // an error, or nothing
	}{
		{"able", func(s table.Store) table.Store { return able{s} }, "People", "", ""},
		{"a name that is none", func(s table.Store) table.Store { return able{s} }, "a_b", "InvalidResourceName", "InvalidResourceName"},
		{"neither", func(s table.Store) table.Store { return s }, "People", "NotImplemented", "NotImplemented"},
		{"errors", func(s table.Store) table.Store { return unable{s} }, "People", "TableNotFound", "ServerBusy"},
	} {
		s := newServiceOver(t, tt.store(memstore.New(now)), now, table.Options{})
		n := table.Name{Account: "acct", Table: tt.name}
		report, err := s.Traffic(t.Context(), n)
		expect(t, tt.why+", traffic", err, tt.traffic)
		if (report != nil) != (err == nil) || report != nil && (report.Account != "acct" || report.Table != "People") {
			t.Errorf("%s: report %+v", tt.why, report)
		}
		did, err := s.Restore(t.Context(), n, 17)
		expect(t, tt.why+", restore", err, tt.restored)
		if want := map[bool]string{true: "17"}[tt.restored == ""]; string(did) != want {
			t.Errorf("%s: restored %q, want %q", tt.why, did, want)
		}
	}
}

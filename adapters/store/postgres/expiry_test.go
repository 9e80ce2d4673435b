package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// rule returns table options with an expiry rule: entities expire at the time in a property. The
// rule is so old that the store already removes expired entities.
func rule(property string) *table.Traits {
	return &table.Traits{Expiry: &table.Expiry{Property: property}}
}

func declare(t testing.TB, s table.Store, traits *table.Traits) {
	t.Helper()
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Traits = traits
	_, err = s.WriteRecord(t.Context(), r)
	must.OK(t, err)
}

// past is a time before all times that the clocks in these tests show.
var past = edm.TicksOf(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

// shows is a map of operations on the entity "x". If the entity does not exist or has
// expired, each operation must return ErrNoEntity.
var shows = map[string]func(ctx context.Context, s table.Store) error{
	"get": func(ctx context.Context, s table.Store) error {
		_, err := s.Get(ctx, people, row("p", "x"), table.Strong)
		return err
	},
	"page":            pageShows(table.ScanRequest{Rows: 10}),
	"page, newest":    pageShows(table.ScanRequest{Rows: 10, Descending: true}),
	"page, unbounded": pageShows(table.ScanRequest{}),
	"filter":          pageShows(table.ScanRequest{Filter: anything()}),
	"count":           pageShows(table.ScanRequest{Count: true}),
	"update":          writes(table.Mutation{Condition: table.Present}),
	"merge":           writes(table.Mutation{Kind: table.Merge, Condition: table.Present}),
	"delete":          writes(table.Mutation{Kind: table.Delete, Condition: table.Present}),
	"insert": func(ctx context.Context, s table.Store) error {
		err := writes(table.Mutation{Condition: table.Absent})(ctx, s)
		switch {
		case errors.Is(err, table.ErrExists):
			return nil
		case err == nil:
			return table.ErrNoEntity
		}
		return err
	},
	"batch": func(ctx context.Context, s table.Store) error {
		_, err := s.Commit(ctx, people, []table.Mutation{
			{Key: row("p", "other"), Properties: text("other")},
			{Key: row("p", "x"), Condition: table.Present, Properties: ending(past)},
		})
		return err
	},
}

func anything() *odata.Filter {
	f, err := odata.Parse("Text ne 'never'")
	if err != nil {
		panic(err)
	}
	return f
}

// ending makes properties that contain the given expiry time in the property E.
func ending(at edm.Ticks) edm.Properties {
	return edm.AppendProperty(text("x"), "E", edm.DateTime(at))
}

func writes(m table.Mutation) func(ctx context.Context, s table.Store) error {
	return func(ctx context.Context, s table.Store) error {
		m := m
		m.Key, m.Nonce = row("p", "x"), 1
		if m.Kind != table.Delete {
			m.Properties = ending(past)
		}
		_, err := s.Commit(ctx, people, []table.Mutation{m})
		return err
	}
}

func pageShows(r table.ScanRequest) func(ctx context.Context, s table.Store) error {
	return func(ctx context.Context, s table.Store) error {
		r := r
		r.Ranges = []key.Range{{Start: row("p", "x"), End: append(row("p", "x"), 0)}}
		page, err := s.Scan(ctx, people, r)
		if err == nil && len(page.Rows)+page.Count == 0 {
			err = table.ErrNoEntity
		}
		return err
	}
}

// TestRulesOfOtherServers declares an expiry rule through one server. The rule must apply to the
// next operation of every other server. The other server may have cached no rule, an older rule,
// or nothing about the table.
func TestRulesOfOtherServers(t *testing.T) {
	needs.These(t, needs.Postgres)
	var ahead atomic.Int64
	now := func() edm.Ticks { return edm.TicksOf(time.Now()) + edm.Ticks(ahead.Load()) }
	o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1, Now: now}
	s, fresh := open(t, shared, o), make(map[string]*postgres.Store)
	create(t, s)
	for name := range shows {
		fresh[name] = open(t, shared, o)
	}
	for i, step := range []struct {
		rule  *table.Traits
		shows bool
	}{{nil, true}, {rule("E"), false}, {rule("F"), true}, {nil, true}, {rule("E"), false}, {&table.Traits{Expiry: &table.Expiry{After: 1}}, false}, {nil, true}} {
		for _, name := range slices.Sorted(maps.Keys(shows)) {
			declare(t, s, nil)
			must.OK(t, writes(table.Mutation{})(t.Context(), s))
			declare(t, s, step.rule)
			if step.rule != nil && step.rule.Expiry.After > 0 { // a new table's Timestamps may be ahead of the clock, so let the entity expire by moving the clock
				ahead.Add(int64(2 * edm.TicksPerSecond))
			}
			err := shows[name](t.Context(), fresh[name])
			if err != nil && !errors.Is(err, table.ErrNoEntity) || (err == nil) != step.shows {
				t.Errorf("step %d: %s: %v, want an entity: %v", i, name, err, step.shows)
			}
		}
	}
	// A table that is dropped and created again has no rule.
	declare(t, s, rule("E"))
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, s.Drop(t.Context(), people, r.Revision))
	for name, do := range shows {
		if err := do(t.Context(), fresh[name]); !errors.Is(err, table.ErrNoTable) {
			t.Errorf("%s in a dropped table: %v", name, err)
		}
	}
	create(t, s)
	for name, do := range shows {
		must.OK(t, writes(table.Mutation{})(t.Context(), s))
		if err := do(t.Context(), fresh[name]); err != nil {
			t.Errorf("%s in a table made again: %v", name, err)
		}
	}
	// Without a rule, an expired entity cannot be removed by Expire.
	must.OK(t, writes(table.Mutation{})(t.Context(), s))
	got, err := s.Get(t.Context(), people, row("p", "x"), table.Strong)
	must.OK(t, err)
	_, err = s.Commit(t.Context(), people, []table.Mutation{{Key: got.Key, Kind: table.Expire, Condition: table.Unchanged, IfMatch: got.Timestamp}})
	if !errors.Is(err, table.ErrChanged) {
		t.Errorf("Expire without a rule: %v", err)
	}
}

// TestPurgeWithRules checks a table with an expiry rule. Before Purge removes tombstones, it must
// raise the table's floor, the Timestamp that new writes must exceed. After the table was dropped,
// Purge must remove the table's entities.
func TestPurgeWithRules(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1, PurgeAfter: time.Microsecond})
	create(t, s)
	declare(t, s, rule("E"))
	must.OK(t, putOne(t.Context(), s, "kept"))
	must.OK(t, putOne(t.Context(), s, "deleted"))
	ticks, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "deleted"), Kind: table.Delete, Condition: table.Present}})
	must.OK(t, err)
	in := s.Schema + "."
	wait(t, "the tombstone is removed", func() bool { // the wait is long because a new table's Timestamps begin ahead of the clock
		must.OK(t, s.Purge(t.Context()))
		return ask(t, shared, "SELECT count(*) FROM "+in+"entity WHERE deleted") == "0"
	})
	if above := ask(t, shared, "SELECT floor % (1::int8 << 62) >= $1::int8 AND purged >= $1::int8 FROM "+in+"record", int64(ticks)); above != "true" {
		t.Error("the floor is below the tombstone that was removed")
	}
	must.OK(t, putOne(t.Context(), s, "after"))
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, s.Drop(t.Context(), people, r.Revision))
	must.OK(t, s.Purge(t.Context()))
	if n := ask(t, shared, "SELECT count(*) FROM "+in+"entity"); n != "0" {
		t.Errorf("%s entities of the dropped table are left", n)
	}
}

// TestLostOverEnded breaks the connection while a write replaces, or Expire removes, an expired
// entity. The store must find out the outcome, even if another server has written the entity
// since.
func TestLostOverEnded(t *testing.T) {
	insert := func(s *postgres.Store, _ edm.Ticks) error {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Condition: table.Absent, Nonce: 2, Properties: ending(past)}})
		return err
	}
	merge := func(s *postgres.Store, _ edm.Ticks) error {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Kind: table.Merge, Nonce: 2, Properties: ending(past)}})
		return err
	}
	batch := func(s *postgres.Store, _ edm.Ticks) error {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Condition: table.Absent, Nonce: 2, Properties: ending(past)},
			{Key: row("p", "y"), Nonce: 2, Properties: ending(past)}})
		return err
	}
	expire := func(s *postgres.Store, seen edm.Ticks) error {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Kind: table.Expire, Condition: table.Unchanged, IfMatch: seen}})
		return err
	}
	for _, tt := range []struct {
		name, statement string
		fate            loss
		do              func(s *postgres.Store, seen edm.Ticks) error
		others          bool // another server writes the entity after the connection broke
		want            error
		left            string // nonce of the row at the end, or "deleted"
	}{
		{"insert, not sent", "ruled_swap", notSent, insert, false, nil, "2"},
		{"insert, applied", "ruled_swap", replyLost, insert, false, nil, "2"},
		{"insert, not sent, another inserts", "ruled_swap", notSent, insert, true, nil, "2"}, // the entity of the other server has expired too
		{"insert, applied, another inserts", "ruled_swap", replyLost, insert, true, nil, "3"},
		{"merge, not sent", "ruled_swap", notSent, merge, false, nil, "2"},
		{"merge, applied", "ruled_swap", replyLost, merge, false, nil, "2"},
		{"merge, applied, another inserts", "ruled_swap", replyLost, merge, true, nil, "3"},
		{"batch, not sent", "ruled_swap_all", notSent, batch, false, nil, "2"},
		{"batch, applied", "ruled_swap_all", replyLost, batch, false, nil, "2"},
		{"expire, not sent", "ruled_swap", notSent, expire, false, nil, "deleted"},
		{"expire, applied", "ruled_swap", replyLost, expire, false, nil, "deleted"},
		{"expire, not sent, another inserts", "ruled_swap", notSent, expire, true, table.ErrChanged, "3"},
		{"expire, applied, another inserts", "ruled_swap", replyLost, expire, true, nil, "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			needs.These(t, needs.Postgres)
			o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1}
			w := new(breaker)
			s, neighbour := open(t, shared, func() postgres.Options { o := o; o.Dial = w.dial; return o }()), open(t, shared, o)
			create(t, s)
			declare(t, s, rule("E"))
			seen, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Nonce: 1, Properties: ending(past)}})
			must.OK(t, err)
			b := w.arm(tt.statement, tt.fate)
			outcome := make(chan error, 1)
			go func() { outcome <- tt.do(s, seen) }()
			b.await(t, outcome)
			if tt.others {
				_, err := neighbour.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "x"), Condition: table.Absent, Nonce: 3, Properties: ending(past)}})
				must.OK(t, err)
			}
			close(b.lose)
			if err := <-outcome; !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			left := ask(t, shared, "SELECT CASE WHEN deleted THEN 'deleted' ELSE nonce::text END FROM "+s.Schema+".entity WHERE key = $1", row("p", "x"))
			if left != tt.left {
				t.Errorf("the row is %s, want %s", left, tt.left)
			}
			if n := s.Metrics().Unknown; n > 0 {
				t.Errorf("%d outcomes are unknown", n)
			}
		})
	}
}

// TestDeclarationWaits checks WriteRecord when it changes the options of a table. WriteRecord must
// return only after all writes under the earlier options have ended.
func TestDeclarationWaits(t *testing.T) {
	needs.These(t, needs.Postgres)
	o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1}.LockTimeout(20 * time.Second) // an update that is sent again follows the rule
	s, other := open(t, shared, o), open(t, shared, o)
	create(t, s)
	must.OK(t, writes(table.Mutation{})(t.Context(), s))
	conn, err := pgx.Connect(t.Context(), shared.DSN("application_name=stranger"))
	must.OK(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "BEGIN; SELECT FROM "+o.Schema+".entity FOR UPDATE")
	must.OK(t, err)
	updated, declared := make(chan error, 1), make(chan error, 1)
	go func() { updated <- writes(table.Mutation{Condition: table.Present})(t.Context(), other) }()
	wait(t, "the update waits for the row", func() bool {
		return ask(t, shared, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", other.Name()) == "1"
	})
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Traits = rule("E")
	go func() {
		_, err := s.WriteRecord(t.Context(), r)
		declared <- err
	}()
	wait(t, "the rule is in the record", func() bool {
		return ask(t, shared, "SELECT count(traits) FROM "+o.Schema+".record") == "1"
	})
	for i := range 20 {
		must.OK(t, putOne(t.Context(), s, fmt.Sprint(i)))
	}
	if len(declared) > 0 && len(updated) == 0 {
		t.Error("the rule is declared, and a write that does not follow it may still be applied")
	}
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	must.OK(t, err)
	must.OK(t, <-updated)
	must.OK(t, <-declared)
	if err := writes(table.Mutation{Condition: table.Present})(t.Context(), other); !errors.Is(err, table.ErrNoEntity) {
		t.Errorf("an update after it: %v", err)
	}
}

// TestNewerDeclaration checks a table whose options were stored by a newer version of edgetable,
// in a form that this version does not know. Every operation must return an error that explains
// this.
func TestNewerDeclaration(t *testing.T) {
	needs.These(t, needs.Postgres)
	o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1}
	s := open(t, shared, o)
	create(t, s)
	must.OK(t, writes(table.Mutation{})(t.Context(), s))
	declare(t, s, rule("E"))
	must.OK(t, shared.Exec("UPDATE "+o.Schema+".record SET revision = revision - 64, traits = set_byte(traits, 24, 9)"))
	for _, known := range []bool{true, false} {
		if !known {
			s = open(t, shared, o)
		}
		for name, do := range shows {
			if err := do(t.Context(), s); !errors.Is(err, table.ErrNewerForm) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.ReadRecord(t.Context(), people, table.Strong); !errors.Is(err, table.ErrNewerForm) {
			t.Errorf("ReadRecord: %v", err)
		}
	}
}

// TestRuleAgainstAKnownState checks a server that has cached the state of an entity from its last
// write. Another server has since declared a rule by which the entity has expired. The entity must
// then be absent for the first server too.
func TestRuleAgainstAKnownState(t *testing.T) {
	needs.These(t, needs.Postgres)
	o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1}
	s, other := open(t, shared, o), open(t, shared, o)
	create(t, s)
	for _, before := range []*table.Traits{nil, rule("F")} {
		for _, kind := range []table.Kind{table.Merge, table.Put, table.Delete} {
			declare(t, other, before)
			must.OK(t, writes(table.Mutation{})(t.Context(), s))
			must.OK(t, writes(table.Mutation{Kind: table.Merge, Condition: table.Present})(t.Context(), s))
			declare(t, other, rule("E"))
			if err := writes(table.Mutation{Kind: kind, Condition: table.Present})(t.Context(), s); !errors.Is(err, table.ErrNoEntity) {
				t.Errorf("write %d after another server declared a rule: %v", kind, err)
			}
		}
	}
}

// TestEndsBeforeTheTimestamp checks an entity that expires after the store has read it, and before
// the write gets its Timestamp. For that write, alone or in a batch, the entity must count as
// expired.
func TestEndsBeforeTheTimestamp(t *testing.T) {
	needs.These(t, needs.Postgres)
	const step = 10 * edm.TicksPerSecond / 1000
	now := new(atomic.Int64) // a clock that advances with each call
	now.Store(int64(past))
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1, Now: func() edm.Ticks { return edm.Ticks(now.Add(int64(step))) }})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "first")) // raises the store's clock above the Timestamps at which a new table begins
	now.Add(int64(10 * edm.TicksPerSecond))
	declare(t, s, rule("E"))
	for i := range 40 {
		x := row("p", fmt.Sprint(i))
		end := edm.Ticks(now.Load()) + edm.Ticks(2+i%4)*step + step/2
		seen, err := s.Commit(t.Context(), people, []table.Mutation{{Key: x, Nonce: 1, Properties: ending(end)}})
		must.OK(t, err)
		m := []table.Mutation{{Key: x, Nonce: 2, Condition: table.Unchanged, IfMatch: seen, Properties: text("later")}}
		if i%8 > 3 {
			m = append(m, table.Mutation{Key: row("p", "first"), Properties: text("later")})
		}
		ticks, err := s.Commit(t.Context(), people, m)
		if err == nil && ticks >= end || err != nil && !errors.Is(err, table.ErrNoEntity) {
			t.Errorf("entity %d ends at %d and is written at %d: %v", i, end, ticks, err)
		}
	}
}

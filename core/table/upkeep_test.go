package table_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// watched is a store whose scans and commits a test sees.
type watched struct {
	table.Store
	scans     int
	examined  int    // number of bytes that all scans examined
	lent      int    // number of pages that were not recycled
	commits   []int  // number of mutations of each commit
	mixed     bool   // whether a commit had mutations of several partitions
	start     []byte // start of the last scan
	last      table.ScanRequest
	afterScan func()
	before    func() // called before the next Scan

	scanErr, commitErr, writeErr error // errors of Scan, Commit and WriteRecord
}

func (s *watched) Unwrap() table.Store { return s.Store }

func (s *watched) Scan(ctx context.Context, t table.RecordKey, r table.ScanRequest) (table.Page, error) {
	s.scans++
	s.start, s.last = r.Ranges[0].Start, r
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	if s.scanErr != nil {
		return table.Page{}, s.scanErr
	}
	page, err := s.Store.Scan(ctx, t, r)
	s.examined += page.Scanned
	if s.scans%2 == 1 { // a store may lend a page, or not
		s.lent++
		page.Recycle = func() { s.lent-- }
	}
	if f := s.afterScan; f != nil {
		s.afterScan = nil
		f()
	}
	return page, err
}

func (s *watched) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if s.writeErr != nil {
		return "", s.writeErr
	}
	return s.Store.WriteRecord(ctx, r)
}

func (s *watched) Commit(ctx context.Context, t table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if s.commitErr != nil {
		return 0, s.commitErr
	}
	if m[0].Kind == table.Expire {
		s.commits = append(s.commits, len(m))
		for i := range m {
			s.mixed = s.mixed || string(key.Partition(m[i].Key)) != string(key.Partition(m[0].Key))
		}
	}
	return s.Store.Commit(ctx, t, m)
}

// expiring is a Service with the table People, whose entities expire at the instant in their property E. The test moves
// the clock.
type expiring struct {
	*table.Service
	*testing.T
	store *watched
	turns *turns // nil unless several programs share the store
	now   edm.Ticks
}

const declared edm.Ticks = 1 << 60 // the instant at which the table's rule of expiry is declared

func newExpiring(t *testing.T, o table.Options) *expiring {
	t.Helper()
	e := &expiring{T: t, now: declared - 10*edm.TicksPerSecond}
	clock := func() edm.Ticks { return e.now }
	e.store = &watched{Store: memstore.New(clock)}
	e.Service = newServiceOver(t, e.store, clock, o)
	e.now = declared
	e.declare(&table.Expiry{Property: "E"})
	return e
}

func (e *expiring) declare(rule *table.Expiry) {
	e.Helper()
	if err := e.SetTableOptions(e.Context(), people, "", table.TableOptions{Expire: rule}); err != nil {
		e.Fatal(err)
	}
}

func (e *expiring) put(pk, rk string, end edm.Ticks) {
	e.Helper()
	op := table.Operation{Action: table.InsertOrReplace, PartitionKey: pk, RowKey: rk, Properties: edm.AppendProperty(nil, "E", edm.DateTime(end))}
	if _, err := e.Write(e.Context(), people, op); err != nil {
		e.Fatal(err)
	}
}

// step runs a step of a pass of upkeep, and checks whether the pass is then finished.
func (e *expiring) step(u *table.Upkeep, want bool) {
	e.Helper()
	finished, err := e.Upkeep(e.Context(), u)
	if err != nil || finished != want {
		e.Errorf("a step of upkeep: finished %t, %v, want %t", finished, err, want)
	}
}

// stored returns how many entities the store holds, whether they have expired or not.
func (e *expiring) stored() (n int) {
	e.Helper()
	for _, ended := range []bool{false, true} {
		page, err := e.store.Store.Scan(e.Context(), people.Key(), table.ScanRequest{Ranges: []key.Range{{}}, Ended: ended})
		if err != nil {
			e.Fatal(err)
		}
		n += len(page.Rows)
	}
	return n
}

// isEnding reports whether the table has a withdrawn rule.
func (e *expiring) isEnding() bool {
	e.Helper()
	traits, _, err := e.TableTraits(e.Context(), people)
	if err != nil {
		e.Fatal(err)
	}
	return traits != nil && traits.Ending != nil
}

// TestUpkeepOfAYoungRule checks that a rule removes nothing before it has the age RemoveTime, and that upkeep costs no
// scan until then.
func TestUpkeepOfAYoungRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		age            edm.Ticks
		scans, removed int
	}{{0, 0, 0}, {table.UndoTime, 0, 0}, {table.RemoveTime - 1, 0, 0}, {table.RemoveTime, 1, 1}} {
		e := newExpiring(t, table.Options{})
		e.put("p", "expired", declared-1)
		e.put("p", "visible", declared+2*table.RemoveTime)
		e.now = declared + tt.age
		u := table.Upkeep{Table: people}
		e.step(&u, true)
		if u.Removed != tt.removed || e.stored() != 2-tt.removed || e.store.scans != tt.scans {
			t.Errorf("age %d: %d removed, %d stored, %d scans", tt.age, u.Removed, e.stored(), e.store.scans)
		}
	}
}

// TestUpkeepCommits checks that upkeep keeps the rules for a commit: at most 100 entities, of one partition. A step
// removes at most 1000 entities, and returns the memory of its page.
func TestUpkeepCommits(t *testing.T) {
	t.Parallel()
	e := newExpiring(t, table.Options{})
	for _, p := range []struct {
		name string
		rows int
	}{{"a", 100}, {"b", 101}, {"c", 1}, {"d", 799}} {
		for i := range p.rows {
			e.put(p.name, fmt.Sprint(i), declared)
		}
	}
	e.now += table.RemoveTime
	u := table.Upkeep{Table: people}
	e.step(&u, false)
	if u.Removed != table.MaxPageRows || e.stored() != 1 {
		t.Errorf("the first step removed %d, %d are stored", u.Removed, e.stored())
	}
	e.step(&u, true)
	if u.Removed != 1001 || e.stored() != 0 {
		t.Errorf("the pass removed %d, %d are stored", u.Removed, e.stored())
	}
	if want := []int{100, 100, 1, 1, 100, 100, 100, 100, 100, 100, 100, 98, 1}; e.store.mixed || !slices.Equal(e.store.commits, want) {
		t.Errorf("commits of %v, of several partitions: %t", e.store.commits, e.store.mixed)
	}
	if e.store.lent != 0 {
		t.Errorf("%d pages were not recycled", e.store.lent)
	}
}

// TestUpkeepAfterAnError checks that a pass does not finish with an error, and that its step can then be repeated.
func TestUpkeepAfterAnError(t *testing.T) {
	t.Parallel()
	e := newExpiring(t, table.Options{})
	e.put("p", "a", declared)
	e.now += table.RemoveTime
	u := table.Upkeep{Table: people}
	e.store.scanErr, e.store.commitErr = table.ErrBusy, table.ErrBusy
	for _, call := range []string{"Scan", "Commit"} {
		if finished, err := e.Upkeep(t.Context(), &u); finished || !errors.Is(err, table.ErrBusy) {
			t.Errorf("error of %s: finished %t, %v", call, finished, err)
		}
		e.store.scanErr = nil
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if finished, err := e.Upkeep(cancelled, &u); finished || !errors.Is(err, context.Canceled) {
		t.Errorf("error of ReadRecord: finished %t, %v", finished, err)
	}
	e.store.commitErr = nil
	e.step(&u, true)
	if u.Removed != 1 || e.stored() != 0 {
		t.Errorf("%d removed, %d stored", u.Removed, e.stored())
	}
	plain := table.Name{Account: "acct", Table: "plain"}
	for range 2 { // without the table, and with a table without options
		e.step(&table.Upkeep{Table: plain}, true)
		_ = e.CreateTable(t.Context(), plain)
	}
	e.step(&table.Upkeep{Table: plain}, true)
}

// TestUpkeepUnderWrites checks a pass for a withdrawn rule while clients change the table: upkeep removes no entity that
// was written again, never brings back a table, and keeps the rule as long as an entity that expired may be stored.
func TestUpkeepUnderWrites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why     string
		change  func(e *expiring) // between the scan and the commits
		removed int
		stored  int // -1 means that the table does not exist
		ending  bool
	}{
		{"no change", func(*expiring) {}, 3, 0, false},
		{"the first entity is written", func(e *expiring) { e.put("p", "a", declared) }, 2, 1, true},
		{"the last entity is written", func(e *expiring) { e.put("p", "c", declared) }, 2, 1, true},
		{"the first entity is written, and the last one deleted", func(e *expiring) {
			e.put("p", "a", declared)
			if _, err := e.store.Store.Commit(e.Context(), people.Key(), []table.Mutation{{Key: key.Append(nil, "p", "c"), Kind: table.Delete}}); err != nil {
				e.Fatal(err)
			}
		}, 1, 1, true},
		{"another entity is written", func(e *expiring) { e.put("p", "d", declared) }, 3, 1, false},
		{"another program removes them", func(e *expiring) { e.step(&table.Upkeep{Table: people}, true) }, 0, 0, false},
		{"the table is deleted", func(e *expiring) { e.DeleteTable(e.Context(), people) }, 0, -1, false},
		{"the table is created again", func(e *expiring) {
			e.DeleteTable(e.Context(), people)
			e.CreateTable(e.Context(), people)
			e.put("p", "a", declared)
		}, 0, 1, false},
		{"another rule is withdrawn", func(e *expiring) {
			e.step(&table.Upkeep{Table: people}, true)
			e.declare(&table.Expiry{Property: "E"})
			e.put("p", "z", declared)
			e.now += table.UndoTime
			e.declare(nil)
		}, 0, 1, true},
	} {
		e := newExpiring(t, table.Options{})
		for _, rk := range []string{"a", "b", "c"} {
			e.put("p", rk, declared)
		}
		e.now += table.UndoTime
		e.declare(nil)
		e.now++
		e.store.afterScan = func() { tt.change(e) }
		u := table.Upkeep{Table: people}
		e.step(&u, true)
		if u.Removed != tt.removed {
			t.Errorf("%s: %d removed", tt.why, u.Removed)
		}
		_, err := e.GetTable(t.Context(), people, table.Strong)
		if tt.stored < 0 {
			expect(t, tt.why, err, "ResourceNotFound")
		} else if err != nil || e.stored() != tt.stored || e.isEnding() != tt.ending {
			t.Errorf("%s: %d stored, ending %t, %v", tt.why, e.stored(), e.isEnding(), err)
		}
	}
}

// TestUpkeepForgetsARule checks when a withdrawn rule is forgotten: after a pass without errors that began after the
// withdrawal. The rule in force remains.
func TestUpkeepForgetsARule(t *testing.T) {
	t.Parallel()
	for _, next := range []*table.Expiry{nil, {Property: "F"}} {
		e := newExpiring(t, table.Options{})
		e.now += table.UndoTime
		e.declare(next)
		e.step(&table.Upkeep{Table: people}, true)
		if !e.isEnding() {
			t.Error("forgotten after a pass that began with the withdrawal")
		}
		u := table.Upkeep{Table: people}
		for _, tt := range []struct {
			why         string
			later       edm.Ticks
			scan, write error
		}{
			{"Scan fails", 0, table.ErrBusy, nil},
			{"Scan fails again", 1, table.ErrBusy, nil},
			{"WriteRecord fails", 0, nil, table.ErrBusy},
			{"no error", 0, nil, nil},
		} {
			e.now += tt.later
			e.store.scanErr, e.store.writeErr = tt.scan, tt.write
			fails := tt.scan != nil || tt.write != nil
			if finished, err := e.Upkeep(t.Context(), &u); finished == fails || (err != nil) != fails || e.isEnding() != fails {
				t.Errorf("%s: finished %t, %v, ending %t", tt.why, finished, err, e.isEnding())
			}
		}
		if traits, _, err := e.TableTraits(t.Context(), people); err != nil || (traits != nil) != (next != nil) || next != nil && traits.Expiry.Property != "F" {
			t.Errorf("traits %+v, %v", traits, err)
		}
	}
}

// TestUpkeepBehind checks the delay that a pass reports: the longest time for which an entity could have been removed.
func TestUpkeepBehind(t *testing.T) {
	t.Parallel()
	const s, never = edm.TicksPerSecond, 1 << 50
	f := &table.Expiry{Property: "F"}
	for _, tt := range []struct {
		why   string
		ends  []edm.Ticks   // the values of E, counted from the declaration of the rule, or never for an entity without E
		next  *table.Expiry // the rule that follows when the first one has the age RemoveTime
		later edm.Ticks     // since then
		want  edm.Ticks
		stays int // number of entities that cannot be removed yet
	}{
		{"nothing expired", nil, nil, 7 * s, 0, 0},
		{"expired before the rule", []edm.Ticks{-9 * s, 0}, &table.Expiry{Property: "E"}, 7 * s, 7 * s, 0},
		{"expired lately", []edm.Ticks{table.RemoveTime + 3*s}, &table.Expiry{Property: "E"}, 7 * s, 4 * s, 0},
		{"both", []edm.Ticks{table.RemoveTime + 3*s, 0, table.RemoveTime + 5*s}, &table.Expiry{Property: "E"}, 7 * s, 7 * s, 0},
		{"expired under a withdrawn rule", []edm.Ticks{0, s}, nil, 7 * s, 7 * s, 0},
		{"expired under a rule that another one follows", []edm.Ticks{0}, f, 7 * s, 7 * s, 0},
		{"expired only under the young rule that follows", []edm.Ticks{3 * table.RemoveTime}, f, 7 * s, 0, 1},
		{"and never under the withdrawn one", []edm.Ticks{never}, f, 7 * s, 0, 1},
		{"expired only under the rule that follows", []edm.Ticks{3 * table.RemoveTime, never}, f, table.RemoveTime + 7*s, 7 * s, 0},
	} {
		e := newExpiring(t, table.Options{})
		for i, end := range tt.ends {
			p := edm.AppendProperty(nil, "F", edm.DateTime(declared))
			if end != never {
				p = edm.AppendProperty(p, "E", edm.DateTime(declared+end))
			}
			op := table.Operation{Action: table.Insert, PartitionKey: "p", RowKey: fmt.Sprint(i), Properties: p}
			if _, err := e.Write(t.Context(), people, op); err != nil {
				t.Fatal(err)
			}
		}
		e.now += table.RemoveTime
		e.declare(tt.next)
		e.now += tt.later
		u := table.Upkeep{Table: people}
		e.step(&u, true)
		if u.Behind != tt.want || u.Removed != len(tt.ends)-tt.stays {
			t.Errorf("%s: %d ticks behind, %d removed, want %d", tt.why, int64(u.Behind), u.Removed, int64(tt.want))
		}
	}

	// A rule that is declared between the look at the table and the scan hides entities that the pass does not expect.
	e := newExpiring(t, table.Options{})
	e.put("p", "a", declared+2*table.RemoveTime)
	e.now += table.RemoveTime
	e.declare(nil)
	e.now++
	e.store.before = func() { e.declare(&table.Expiry{After: 1}) }
	u := table.Upkeep{Table: people}
	e.step(&u, true)
	if u.Removed != 0 || e.stored() != 1 {
		t.Errorf("%d removed, %d stored", u.Removed, e.stored())
	}
}

// TestTablesWithTraits checks that the list has the tables of one account that declare options, however many tables the
// account has.
func TestTablesWithTraits(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	var want []table.Name
	for i := range 2*table.MaxPageRows + 3 {
		n := table.Name{Account: "many", Table: fmt.Sprintf("t%04d", i)}
		if err := s.CreateTable(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 || i == 1001 || i == 2*table.MaxPageRows+2 {
			want = append(want, n)
			if err := s.SetTableOptions(t.Context(), n, "", table.TableOptions{Expire: &table.Expiry{After: 1}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for account, want := range map[string][]table.Name{"many": want, "acct": nil, "none": nil} {
		if list, err := s.TablesWithTraits(t.Context(), account); err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: %v, %v", account, list, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := s.TablesWithTraits(cancelled, "many"); list != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d tables, %v", len(list), err)
	}
}

package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// world is a store with a model of its content: the text of each entity, by table and key.
type world struct {
	t      *testing.T
	disk   *quota
	store  *pebblestore.Store
	tables map[string]*modelTable
}

type modelTable struct {
	record table.Record
	texts  map[string]string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, disk: newQuota(), tables: map[string]*modelTable{}}
	must.OK(t, w.disk.MkdirAll("data", 0o700))
	w.disk.setLimit(64 << 20)
	s, err := pebblestore.Open(w.options(w.disk))
	must.OK(t, err)
	w.store = s
	return w
}

func (w *world) options(fs vfs.FS) pebblestore.Options {
	return pebblestore.Options{
		Dir: "data", FS: fs, Logf: func(string, ...any) {},
		Fatal: func(err error) { w.t.Errorf("fatal: %v", err) },
	}
}

func tableKey(name string) table.RecordKey { return table.RecordKey{Account: "acct", Table: name} }

// make adds a table to the model and returns a function that creates the table. Like the methods drop
// and commit, it changes the model before the store has confirmed the change.
func (w *world) make(name string, number byte) func() error {
	m := &modelTable{record: table.Record{Key: tableKey(name), Incarnation: table.Incarnation{number}}, texts: map[string]string{}}
	w.tables[name] = m
	return func() (err error) {
		m.record.Revision, err = w.store.WriteRecord(context.Background(), m.record)
		return err
	}
}

func (w *world) drop(name string) func() error {
	r := w.tables[name].record
	delete(w.tables, name)
	return func() error { return w.store.Drop(context.Background(), r.Key, r.Revision) }
}

type change struct {
	kind      table.Kind
	condition table.Condition
	row       int
	text      string
}

func rowKey(partition string, row int) []byte {
	return key.Append(nil, partition, fmt.Sprint("r", row))
}

func (w *world) commit(name, partition string, changes ...change) func() error {
	var list []table.Mutation
	for _, c := range changes {
		m := table.Mutation{Key: rowKey(partition, c.row), Kind: c.kind, Condition: c.condition}
		if c.kind == table.Delete {
			delete(w.tables[name].texts, string(m.Key))
		} else {
			m.Properties = edm.AppendProperty(nil, "Text", edm.String(c.text))
			w.tables[name].texts[string(m.Key)] = c.text
		}
		list = append(list, m)
	}
	return func() error {
		_, err := w.store.Commit(context.Background(), tableKey(name), list)
		return err
	}
}

func (w *world) copy() map[string]map[string]string {
	c := map[string]map[string]string{}
	for name, m := range w.tables {
		c[name] = maps.Clone(m.texts)
	}
	return c
}

// check compares a store with the model want: the list of tables, each record, each entity by its
// key, and scans of several ranges in pages of several sizes.
func (w *world) check(s *pebblestore.Store, want map[string]map[string]string, names ...string) {
	w.t.Helper()
	ctx := w.t.Context()
	list, err := s.ListRecords(ctx, "acct", "", 100, table.Strong)
	must.OK(w.t, err)
	var got []string
	for _, r := range list {
		got = append(got, r.Key.Table)
	}
	if all := slices.Sorted(maps.Keys(want)); !slices.Equal(got, all) {
		w.t.Fatalf("the tables %q instead of %q", got, all)
	}
	for _, name := range names {
		texts, exists := want[name]
		if _, err := s.ReadRecord(ctx, tableKey(name), table.Strong); (err == nil) != exists {
			w.t.Fatalf("the record of %s: %v", name, err)
		}
		if !exists {
			if _, err := s.Scan(ctx, tableKey(name), table.ScanRequest{Ranges: []key.Range{{}}}); !errors.Is(err, table.ErrNoTable) {
				w.t.Fatalf("a scan of %s: %v", name, err)
			}
			if _, err := s.Get(ctx, tableKey(name), rowKey("a", 0), table.Strong); !errors.Is(err, table.ErrNoTable) {
				w.t.Fatalf("an entity of %s: %v", name, err)
			}
			continue
		}
		for _, p := range []string{"a", "b", "c"} {
			for i := range 6 {
				k := rowKey(p, i)
				row, err := s.Get(ctx, tableKey(name), k, table.Strong)
				text, there := texts[string(k)]
				if there && (err != nil || textOf(row) != text) || !there && !errors.Is(err, table.ErrNoEntity) {
					w.t.Fatalf("%s, %s %d: %.20q and %v instead of %.20q", name, p, i, textOf(row), err, text)
				}
			}
		}
		of := func(p string) key.Range { return key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)} }
		for _, ranges := range [][]key.Range{
			{{}}, {of("a")}, {of("a"), of("c")}, {of("b"), of("c")}, {{Start: rowKey("a", 1), End: rowKey("a", 3)}, {Start: rowKey("b", 2)}},
		} {
			for _, rows := range []int{0, 1, 2} {
				w.checkScan(s, name, ranges, rows, texts)
			}
		}
	}
}

func textOf(r table.Row) string {
	v, _ := r.Properties.Lookup("Text")
	return v.Text()
}

func (w *world) checkScan(s *pebblestore.Store, name string, ranges []key.Range, rows int, texts map[string]string) {
	w.t.Helper()
	var got, want []string
	for rest := ranges; ; {
		page, err := s.Scan(w.t.Context(), tableKey(name), table.ScanRequest{Ranges: rest, Rows: rows})
		must.OK(w.t, err)
		for _, r := range page.Rows {
			got = append(got, fmt.Sprintf("%q %.20s", r.Key, textOf(r)))
		}
		if page.Next == nil {
			break
		}
		rest = key.From(rest, page.Next)
	}
	for _, k := range slices.Sorted(maps.Keys(texts)) {
		if slices.ContainsFunc(ranges, func(r key.Range) bool { return r.Contains([]byte(k)) }) {
			want = append(want, fmt.Sprintf("%q %.20s", k, texts[k]))
		}
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("%s in pages of %d rows of %q:\n%q instead of\n%q", name, rows, ranges, got, want)
	}
}

// startBlocked starts changes one after the other while no log can be written, and then makes the
// disk full. The caller waits for results to find out when all changes have ended.
func (w *world) startBlocked(changes ...func() error) (results *sync.WaitGroup) {
	results = new(sync.WaitGroup)
	letGo := w.disk.holdLogs()
	for i, do := range changes {
		results.Go(func() {
			if err := do(); err != nil {
				w.t.Errorf("change %d: %v", i, err)
			}
		})
		for w.store.Registered() <= i {
			runtime.Gosched()
		}
		if i < len(changes)-1 {
			w.store.Applied()
		}
	}
	w.disk.setLimit(0)
	letGo()
	<-w.store.Stalled()
	return results
}

// TestSettled makes commits of all kinds wait for disk space. It checks that reads show the state
// without these commits, even if some of them are already in the log. A killed process must not lose
// anything of this state. When there is space again, reads must show all commits.
func TestSettled(t *testing.T) {
	t.Parallel()
	put, merge, remove := table.Put, table.Merge, table.Delete
	for name, changes := range map[string]func(w *world) []func() error{
		"insert": func(w *world) []func() error {
			return []func() error{w.commit("one", "c", change{put, table.Absent, 0, "new"})}
		},
		"upsert": func(w *world) []func() error {
			return []func() error{
				w.commit("one", "a", change{put, table.Always, 0, "other"}),
				w.commit("one", "b", change{put, table.Always, 5, "new"}),
			}
		},
		"merge": func(w *world) []func() error {
			return []func() error{w.commit("one", "a", change{merge, table.Present, 1, "other"})}
		},
		"delete": func(w *world) []func() error {
			return []func() error{w.commit("one", "a", change{remove, table.Present, 0, ""})}
		},
		"all of a partition": func(w *world) []func() error {
			return []func() error{
				w.commit("one", "a", change{remove, table.Present, 0, ""}, change{remove, table.Present, 1, ""}, change{remove, table.Present, 2, ""}, change{remove, table.Present, 3, ""}),
			}
		},
		"one entity often": func(w *world) []func() error {
			return []func() error{
				w.commit("one", "a", change{remove, table.Present, 1, ""}),
				w.commit("one", "a", change{put, table.Absent, 1, "again"}),
				w.commit("one", "a", change{merge, table.Present, 1, "and again"}),
				w.commit("one", "a", change{remove, table.Present, 1, ""}),
				w.commit("one", "a", change{put, table.Always, 1, "last"}, change{put, table.Always, 4, "new"}),
			}
		},
		"large": func(w *world) []func() error { // so large that Pebble does not copy the batch into a memtable
			var all []change
			for i := range 100 {
				all = append(all, change{put, table.Always, i, strings.Repeat(fmt.Sprint(i, " "), 30_000)})
			}
			return []func() error{
				w.commit("one", "a", change{remove, table.Present, 1, ""}),
				w.commit("one", "a", all...),
			}
		},
		"create": func(w *world) []func() error {
			return []func() error{w.commit("one", "a", change{remove, table.Present, 1, ""}), w.make("three", 3)}
		},
		"drop": func(w *world) []func() error {
			return []func() error{
				w.commit("one", "a", change{remove, table.Present, 1, ""}),
				w.commit("two", "a", change{put, table.Always, 1, "other"}),
				w.drop("two"),
				w.commit("one", "a", change{put, table.Always, 1, "other"}, change{remove, table.Present, 2, ""}),
				w.make("two", 4),
				w.make("three", 3),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			must.OK(t, w.make("one", 1)())
			must.OK(t, w.make("two", 2)())
			for i := range 4 {
				for _, name := range []string{"one", "two"} {
					must.OK(t, w.commit(name, "a", change{put, table.Absent, i, fmt.Sprint(name, i)})())
					must.OK(t, w.commit(name, "b", change{put, table.Absent, i, fmt.Sprint(name, i)})())
				}
			}
			all := []string{"one", "two", "three"}
			w.check(w.store, w.copy(), all...)
			before := w.copy()
			waiting := w.startBlocked(changes(w)...)
			w.check(w.store, before, all...)
			if err := w.store.Drop(t.Context(), tableKey("one"), ""); !errors.Is(err, table.ErrFull) {
				t.Errorf("a drop: %v", err)
			}
			for _, percent := range []int{0, 100} {
				copied := w.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, 1))})
				s, err := pebblestore.Open(w.options(copied))
				must.OK(t, err)
				if percent == 0 {
					w.check(s, before, all...)
				}
				must.OK(t, s.Close())
			}
			w.check(w.store, before, all...)
			w.disk.makeSpace()
			waitForSpace(w.store)
			waiting.Wait()
			w.check(w.store, w.copy(), all...)
			must.OK(t, w.store.Close())
			s, err := pebblestore.Open(w.options(w.disk))
			must.OK(t, err)
			w.check(s, w.copy(), all...)
			must.OK(t, s.Close())
		})
	}
}

// TestSettledAnyhow checks the same as TestSettled, with random changes.
func TestSettledAnyhow(t *testing.T) {
	t.Parallel()
	seeds := uint64(100)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		w := newWorld(t)
		random := rand.New(rand.NewPCG(seed, 7))
		number := byte(0)
		any := func() func() error {
			name := []string{"one", "two"}[random.IntN(2)]
			if w.tables[name] == nil {
				number++
				return w.make(name, number)
			}
			if random.IntN(12) == 0 && w.tables[name].record.Revision != "" {
				return w.drop(name)
			}
			var list []change
			partition := []string{"a", "b", "c"}[random.IntN(3)]
			rows := random.Perm(6)
			for _, row := range rows[:1+random.IntN(3)] {
				c := change{table.Kind(random.IntN(2)), table.Always, row, fmt.Sprint(seed, random.Uint32())}
				if _, there := w.tables[name].texts[string(rowKey(partition, row))]; there && random.IntN(2) == 0 {
					c.kind, c.condition = table.Delete, table.Present
				}
				list = append(list, c)
			}
			return w.commit(name, partition, list...)
		}
		for range random.IntN(40) {
			must.OK(t, any()())
		}
		before := w.copy()
		var changes []func() error
		for range 1 + random.IntN(12) {
			changes = append(changes, any())
		}
		waiting := w.startBlocked(changes...)
		w.check(w.store, before, "one", "two")
		w.disk.makeSpace()
		waitForSpace(w.store)
		waiting.Wait()
		w.check(w.store, w.copy(), "one", "two")
		must.OK(t, w.store.Close())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

package durableobject_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// writePlain is a flag with which TestPlainTable writes testdata/plain.txt.
var writePlain = flag.Bool("plain", false, "write testdata/plain.txt")

// plainOps are the names of operations in testdata/plain.txt.
var plainOps = [...]string{
	message.OpGet: "get", message.OpCommit: "commit", message.OpScan: "scan", message.OpDrop: "drop", message.OpForget: "forget", message.OpRead: "read",
	message.OpWrite: "write", message.OpList: "list", message.OpRemove: "remove", message.OpLocate: "locate", message.OpAlarm: "alarm", message.OpTraffic: "traffic",
	message.OpCopy: "copy", message.OpTake: "take", message.OpRanges: "ranges", message.OpBegin: "begin", message.OpSwitch: "switch", message.OpObjects: "objects",
	message.OpOffer: "offer", message.OpJoin: "join",
}

// notes records all messages, and all rows that objects read, write and delete.
type notes struct {
	*ranges
	lines []string           // the recorded lines
	rows  map[*node][]string // the rows that the running transaction has read or changed
	due   map[*node]edm.Ticks
}

// newNotes begins to record what happens in a cloud.
func newNotes(w *ranges) *notes {
	l := &notes{ranges: w, rows: make(map[*node][]string), due: make(map[*node]edm.Ticks)}
	for what, via := range map[string]*func(durableobject.Call) fate{"a Worker": &w.network, "an object": &w.cloud.inside} {
		*via = func(c durableobject.Call) fate {
			op := fmt.Sprint(opOf(c))
			if int(opOf(c)) < len(plainOps) {
				op = plainOps[opOf(c)]
			}
			l.note("%s sends %s to %s: %d bytes", what, op, c.To.Name, len(c.Message))
			l.listen(w.node(c.To))
			return fate{}
		}
	}
	w.cloud.answered = func(c durableobject.Call, a durableobject.Answer) durableobject.Answer {
		l.note("%s answers: %d bytes", c.To.Name, len(a.Message))
		return a
	}
	w.cloud.kept = func(n *node) {
		for _, row := range l.rows[n] {
			k := []byte(row[1:])
			switch i, there := n.rows.At(k); {
			case row[0] == 'r':
				l.note("%s: read %+q", n.id.Name, k)
			case there:
				l.note("%s: wrote %+q with %d bytes", n.id.Name, k, len(n.rows.Rows[i].Value))
			default:
				l.note("%s: deleted %+q", n.id.Name, k)
			}
		}
		delete(l.rows, n)
	}
	for _, n := range w.all() {
		l.listen(n)
	}
	return l
}

func (l *notes) note(format string, a ...any) {
	l.lines = append(l.lines, "  "+fmt.Sprintf(format, a...))
}

// alarms records the alarms that were set or have rung.
func (l *notes) alarms() {
	for _, n := range l.all() {
		switch {
		case n.alarm == l.due[n]:
		case n.alarm == 0:
			l.note("%s: no alarm", n.id.Name)
		default:
			l.note("%s: alarm in %d ms", n.id.Name, (n.alarm-l.clock.t)/10_000)
		}
		l.due[n] = n.alarm
	}
}

func (l *notes) listen(n *node) {
	n.rows.Touched = func(k []byte, writes bool) {
		kind := "r"
		if writes {
			kind = "w"
		}
		l.rows[n] = append(l.rows[n], kind+string(k))
	}
}

// play runs a fixed sequence of operations on a table with the given declared options (traits). It returns the
// recorded messages, row operations and alarms.
func play(t *testing.T, traits *table.Traits) []string {
	t.Helper()
	k := newClock()
	w := &ranges{cloud: newCloud(t, k.now), t: t, clock: k}
	l := newNotes(w)
	w.store = w.cloud.store(k.now, func(o *durableobject.Options) { o.Buckets = 1 })
	ctx := context.Background()
	do := func(what string, refused bool, f func() error) {
		t.Helper()
		k.t += edm.TicksPerSecond
		l.lines = append(l.lines, "", what)
		if err := f(); (err != nil) != refused {
			t.Fatalf("%s: %v", what, err)
		}
		l.alarms()
	}
	declare := func(incarnation byte) func() error {
		return func() error {
			_, err := w.store.WriteRecord(ctx, table.Record{Key: tableKey, Incarnation: table.Incarnation{11: incarnation}, Value: []byte("policies"), Traits: traits})
			return err
		}
	}
	commit := func(s *durableobject.Store, m ...table.Mutation) func() error {
		return func() error {
			_, err := s.Commit(ctx, tableKey, m)
			return err
		}
	}
	get := func(s *durableobject.Store, partition string) func() error {
		return func() error {
			_, err := s.Get(ctx, tableKey, at(partition, "r"), table.Strong)
			return err
		}
	}
	scan := func(r table.ScanRequest, rows int) func() error {
		return func() error {
			r.Ranges = []key.Range{{}}
			page, err := w.store.Scan(ctx, tableKey, r)
			if err == nil && len(page.Rows) != rows {
				err = fmt.Errorf("%d rows", len(page.Rows))
			}
			return err
		}
	}
	entity := func(partition string, kind table.Kind, c table.Condition) table.Mutation {
		m := table.Mutation{Key: at(partition, "r"), Kind: kind, Condition: c, Nonce: 1}
		if kind != table.Delete {
			m.Properties = edm.AppendProperty(nil, "v", edm.String(strings.Repeat("x", 80)))
		}
		return m
	}
	pass := func(steps int, d edm.Ticks) func() error {
		return func() error {
			for range steps {
				k.t += d
				w.ring(k.t)
			}
			return nil
		}
	}
	never, err := odata.Parse("v eq 'y'")
	if err != nil {
		t.Fatal(err)
	}

	do("create the table", false, declare(1))
	do("create it again", true, declare(1))
	do("insert", false, commit(w.store, entity("p1", table.Put, table.Absent)))
	do("insert again", true, commit(w.store, entity("p1", table.Put, table.Absent)))
	do("merge", false, commit(w.store, entity("p1", table.Merge, table.Present)))
	do("replace", false, commit(w.store, entity("p1", table.Put, table.Present)))
	do("insert or replace", false, commit(w.store, entity("p1", table.Put, table.Always)))
	do("replace what is not there", true, commit(w.store, entity("p2", table.Put, table.Present)))
	do("get", false, get(w.store, "p1"))
	do("delete", false, commit(w.store, entity("p1", table.Delete, table.Present)))
	do("delete again", true, commit(w.store, entity("p1", table.Delete, table.Present)))
	do("get what is not there", true, get(w.store, "p1"))
	batch := func(rows ...string) (list []table.Mutation) {
		for _, row := range rows {
			m := entity("p0", table.Put, table.Always)
			m.Key = at("p0", row)
			list = append(list, m)
		}
		return list
	}
	do("batch", false, commit(w.store, batch("a", "b", "c")...))
	remove := batch("a", "b")
	remove[0] = table.Mutation{Key: remove[0].Key, Kind: table.Delete, Condition: table.Present}
	remove[1].Kind = table.Merge
	do("batch of a deletion and a merge", false, commit(w.store, remove...))
	do("page", false, scan(table.ScanRequest{Rows: 1}, 1))
	do("page of all", false, scan(table.ScanRequest{}, 2))
	do("page with a filter", false, scan(table.ScanRequest{Rows: 10, Filter: never}, 0))
	do("list the tables", false, func() error {
		_, err := w.store.ListRecords(ctx, "acct", "", 10, table.Strong)
		return err
	})
	do("alarms of two hours", false, pass(24, 300*edm.TicksPerSecond))
	for i := range 16 {
		do("insert", false, commit(w.store, entity(fmt.Sprintf("q%02d", i*7%16), table.Put, table.Absent)))
	}
	w.bytes = 1000 // less than the size of the entities, so that the range splits
	w.evict()
	do("insert into a range that is too large", false, commit(w.store, entity("q16", table.Put, table.Absent)))
	do("the split", false, pass(100, edm.TicksPerSecond/10))
	if len(w.remaining()) < 2 {
		t.Fatal("the range has not split")
	}
	w.bytes = 0
	w.evict()
	cold := w.cloud.store(k.now, nil)
	do("get, by another Worker", false, get(cold, "q15"))
	do("replace, by another Worker", false, commit(cold, entity("q00", table.Put, table.Present)))
	do("page over the ranges", false, scan(table.ScanRequest{}, 19))
	w.evict()
	do("replace after a restart of the objects", false, commit(w.store, entity("q15", table.Put, table.Present)))
	do("get after a restart", false, get(w.store, "q15"))
	do("delete the table", false, func() error {
		r, err := w.store.ReadRecord(ctx, tableKey, table.Strong)
		if err != nil {
			return err
		}
		return w.store.Drop(ctx, tableKey, r.Revision)
	})
	do("alarms of two hours after that", false, pass(24, 300*edm.TicksPerSecond))
	do("get from no table", true, get(w.store, "q15"))
	do("create the table anew", false, declare(2))
	do("insert into it", false, commit(w.store, entity("p1", table.Put, table.Absent)))
	return l.lines
}

// Code without declared options did not read the row "me". Now an object reads this row when it loads its
// state, if it has neither the row "mm" nor the row "mr". This function removes these reads from the recorded
// lines.
func since(t *testing.T, lines []string) (list []string) {
	t.Helper()
	for i, line := range lines {
		if !strings.HasSuffix(line, `: read "me"`) {
			list = append(list, line)
		} else if !strings.HasSuffix(lines[i-1], `: read "mr"`) {
			t.Errorf("line %d: %s after %s", i+1, line, lines[i-1])
		}
	}
	return list
}

// TestPlainTable checks a table that declares no options. Its messages, the rows that objects read, write and
// delete, and the alarms must be the same as in testdata/plain.txt. This file was written by code without
// declared options (commit d8363837). The function since removes the expected difference.
func TestPlainTable(t *testing.T) {
	t.Parallel()
	now := since(t, play(t, nil))
	const file = "testdata/plain.txt"
	if *writePlain {
		if err := os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range max(len(now), len(before)) {
		if i >= len(now) || i >= len(before) || now[i] != before[i] {
			t.Fatalf("the work differs from line %d of %s on; now it is:\n%s", i+1, file, strings.Join(now[min(i, len(now)):min(i+5, len(now))], "\n"))
		}
	}
}

var (
	lengths  = regexp.MustCompile(`(: | with )\d+ bytes$`)
	ofFeeds  = regexp.MustCompile(`: (read|wrote|deleted) "[fF]|: alarm in |: no alarm`)
	ofStates = regexp.MustCompile(`: read "m[a-z]"`)
	states   = regexp.MustCompile(`"m[mre]"`)
	entities = regexp.MustCompile(`: (wrote|deleted) "e`)
)

// TestPlainTableWithFeed checks what a feed adds to the same operations. Each commit writes one more row. When
// an object begins the feed, it writes a row with the state of the feed. The feed also adds an alarm. It adds
// no message, and no other row before the range splits. The table's record is longer. The row with the state of
// a range is longer too, and has another key.
func TestPlainTableWithFeed(t *testing.T) {
	t.Parallel()
	var kinds, rows [2][]string
	commits, lines, heads := 0, 0, 0
	for i, traits := range []*table.Traits{nil, {Feed: &table.Feed{Keep: 7 * day}}} {
		split, wrote := false, 0
		for _, line := range play(t, traits) {
			split = split || line == "the split"
			line = lengths.ReplaceAllString(line, "")
			switch {
			case strings.Contains(line, " sends ") || strings.HasSuffix(line, " answers"):
				kinds[i] = append(kinds[i], line)
			case line == "":
				if !split && wrote > 0 {
					commits += i
				}
				wrote = 0
			case strings.Contains(line, `: wrote "f`) && !split:
				lines++
			case strings.Contains(line, `: wrote "F`) && !split:
				heads++
			case strings.Contains(line, `"mx"`) && strings.Contains(line, "wrote"):
				t.Errorf("a table with only a feed has passes that remove expired entities: %s", line)
			}
			if entities.MatchString(line) {
				wrote++
			}
			if !split && !ofFeeds.MatchString(line) && !ofStates.MatchString(line) {
				rows[i] = append(rows[i], states.ReplaceAllString(line, "state"))
			}
		}
	}
	if commits < 20 || lines != commits || heads != 1 {
		t.Errorf("%d rows of %d commits, and %d heads", lines, commits, heads)
	}
	for what, list := range map[string][2][]string{"messages": kinds, "rows": rows} {
		for i := range min(len(list[0]), len(list[1])) {
			if list[0][i] != list[1][i] {
				t.Errorf("the %s differ from line %d on: %q without a feed, %q with one", what, i, list[0][i], list[1][i])
				break
			}
		}
		if len(list[0]) != len(list[1]) || len(list[0]) < 50 {
			t.Errorf("%d %s without a feed, %d with one", len(list[0]), what, len(list[1]))
		}
	}
}

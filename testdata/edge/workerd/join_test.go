package workerd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

// tally is a log that counts the occurrences of a text.
type tally struct {
	io.Writer
	text string
	mu   sync.Mutex
	n    int
}

func (l *tally) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.n += bytes.Count(p, []byte(l.text))
	l.mu.Unlock()
	return l.Writer.Write(p)
}

func (l *tally) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// TestJoins checks that small ranges are joined again while a client reads and writes the entities that are
// moved. Each read must return the last write. In the end, one Durable Object must have the whole table. The
// objects use the clock of the test, which is behind the machine's clock. But the machine's clock fires
// alarms, so each alarm of an object fires at once. The clock of the test advances with each request.
func TestJoins(t *testing.T) {
	log := &tally{Writer: workerd.Log(t), text: `"event":"join finished"`}
	server, err := workerd.Start(workerd.Options{Data: t.TempDir(), Log: log,
		Env: []string{acme, "EDGETABLE_SPLIT_BYTES=160000", "EDGETABLE_SPLIT_RATE=0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	clock := wallClock() - 2000*3600*edm.TicksPerSecond
	now := func() edm.Ticks { return clock }
	s := openStore(t, server.NewPlace(now), now, 1)
	create(t, s)
	rnd := rand.New(rand.NewPCG(1, 2))
	const partitions, rows, step = 40, 4, 200 * edm.TicksPerSecond
	partition := func(i int) string { return fmt.Sprintf("p%02d", i) }
	commit := func(m table.Mutation) {
		t.Helper()
		for {
			_, err := s.Commit(t.Context(), people, []table.Mutation{m})
			if errors.Is(err, table.ErrBusy) || errors.Is(err, table.ErrUnknown) {
				continue // repeat the write, because entities are being moved to another object
			}
			if err != nil && !(m.Kind == table.Delete && errors.Is(err, table.ErrNoEntity)) {
				t.Fatal(err)
			}
			return
		}
	}
	put := func(partition, row, value string) {
		t.Helper()
		commit(table.Mutation{Key: key.Append(nil, partition, row), Nonce: rnd.Uint64(), Properties: edm.AppendProperty(nil, "v", edm.String(value))})
	}
	counting, ok := table.As[table.Counting](s)
	if !ok {
		t.Fatal("the store does not count")
	}
	ranges := func() int {
		report, err := counting.Traffic(t.Context(), people)
		if errors.Is(err, table.ErrBusy) || err == nil && report.Missing > 0 {
			return -1
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(report.Ranges)
	}
	for row := range rows {
		for i := range partitions {
			put(partition(i*17%partitions), fmt.Sprint(row), strings.Repeat("x", 4500))
		}
		clock += edm.TicksPerSecond
	}
	for ranges() < 3 {
		put(partition(0), "more", "") // a write wakes the objects, which then check whether to split
	}
	want := map[string]string{}
	for i := range partitions {
		for row := range rows {
			commit(table.Mutation{Key: key.Append(nil, partition(i), fmt.Sprint(row)), Kind: table.Delete, Condition: table.Present})
		}
		put(partition(i), "r", "first")
		want[partition(i)] = "first"
	}
	commit(table.Mutation{Key: key.Append(nil, partition(0), "more"), Kind: table.Delete, Condition: table.Present})

	for n := 0; ranges() != 1; n++ {
		if clock += step; clock > wallClock() {
			t.Fatalf("%d ranges after weeks", ranges())
		}
		p := partition(rnd.IntN(partitions))
		if rnd.IntN(3) == 0 {
			want[p] = fmt.Sprint(n)
			put(p, "r", want[p])
			continue
		}
		row, err := s.Get(t.Context(), people, key.Append(nil, p, "r"), table.Strong)
		if errors.Is(err, table.ErrBusy) {
			continue
		}
		if v, _ := row.Properties.Lookup("v"); err != nil || v.String() != want[p] {
			t.Fatalf("read %d of %s: %q, %v, want %q", n, p, v.String(), err, want[p])
		}
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Rows {
		p, _ := key.Decode(page.Rows[i].Key)
		if v, _ := page.Rows[i].Properties.Lookup("v"); v.String() != want[p] {
			t.Errorf("%s has %q, want %q", p, v.String(), want[p])
		}
		delete(want, p)
	}
	if len(want) > 0 {
		t.Errorf("%v are lost", want)
	}
	if t.Logf("%d joins", log.count()); log.count() < 2 {
		t.Errorf("the log tells of %d joins", log.count())
	}
}

package workerd_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

func wallClock() edm.Ticks { return edm.TicksOf(time.Now()) }

var people = table.RecordKey{Account: "acct", Table: "people"}

// create creates the table people.
func create(t *testing.T, s table.Store) table.Revision {
	t.Helper()
	d := table.Record{Key: people, Value: []byte("{}"), Incarnation: table.Incarnation{byte(lives.Add(1))}}
	revision, err := s.WriteRecord(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

var lives atomic.Int32

func inserts(partition string, n int) (m []table.Mutation) {
	for i := range n {
		m = append(m, table.Mutation{Key: key.Append(nil, partition, fmt.Sprintf("%04d", i)), Condition: table.Absent, Nonce: uint64(i)})
	}
	return m
}

func count(t *testing.T, s table.Store, partition string) int {
	t.Helper()
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{
		Start: key.Append(nil, partition, ""), End: key.Append(nil, partition+"!", ""),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Rows)
}

// TestKill kills workerd under load and starts it again with the same data. Acknowledged writes must exist
// afterwards, and each batch must be complete or absent.
func TestKill(t *testing.T) {
	data := t.TempDir()
	options := workerd.Options{Data: data, Log: workerd.Log(t), Env: []string{acme}}
	first, err := workerd.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	p := first.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	create(t, s)
	const writers, batch = 8, 7
	var acknowledged [writers]atomic.Int64
	var group sync.WaitGroup
	enough := make(chan struct{})
	var total atomic.Int64
	for w := range writers {
		group.Go(func() {
			for n := 0; ; n++ {
				if _, err := s.Commit(t.Context(), people, inserts(fmt.Sprintf("w%d-%04d", w, n), batch)); err != nil {
					return // the server was killed
				}
				acknowledged[w].Store(int64(n + 1))
				if total.Add(1) == 200 {
					close(enough)
				}
			}
		})
	}
	<-enough
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	second, err := workerd.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Stop()
	s = openStore(t, p.Move(second), wallClock, 1)
	for w := range writers {
		n := acknowledged[w].Load()
		for i := range n + 1 {
			got := count(t, s, fmt.Sprintf("w%d-%04d", w, i))
			if got != batch && (i < n || got != 0) {
				t.Errorf("writer %d: of batch %d of %d acknowledged ones there are %d entities", w, i, n, got)
			}
		}
	}
}

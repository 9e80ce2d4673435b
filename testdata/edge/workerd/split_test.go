package workerd_test

import (
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

// splitting are bounds so small that tables split all the time: an object without
// entities has 12 KB.
var splitting = []string{"EDGETABLE_SPLIT_BYTES=20000", "EDGETABLE_SPLIT_RATE=5"}

// The objects keep the promises of tables that split while their tables split. Their clock
// is the wall's, as alarms ring by it.
func TestSplitting(t *testing.T) {
	small := start(t, splitting...)
	h := func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		place := small.NewPlace(wallClock)
		open := func(now func() edm.Ticks) table.Store { return openStore(t, place, now, 1) }
		return storetest.Fixture{
			Store: open(wallClock), Strengths: storetest.Home("Durable Objects, a table that has split"), Share: open, Remote: true,
			Restart: func(now func() edm.Ticks) table.Store {
				place.Restart(wallClock)
				return open(wallClock)
			},
		}
	}
	t.Run("Records", func(t *testing.T) { storetest.Records(t, h) })
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Scans", func(t *testing.T) { storetest.Scans(t, h) })
	t.Run("Order", func(t *testing.T) { storetest.Order(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

var splitKills = flag.Int("kills", 5, "kills of TestSplitKilled")

// Workerd is killed again and again while a table splits. All that was answered is there
// afterwards, once.
func TestSplitKilled(t *testing.T) {
	const writers, each, partitions = 4, 120, 60
	data := t.TempDir()
	options := workerd.Options{Data: data, Log: workerd.Log(t), Env: append([]string{"EDGETABLE_ACCOUNTS=acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ="}, splitting...)}
	payload := strings.Repeat("x", 700)
	var mu sync.Mutex
	answered, tried := make(map[string]bool), make(map[string]bool)
	for round := range *splitKills {
		s, err := workerd.Start(options)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"many"}`)
		}
		var done atomic.Int32
		enough := make(chan struct{})
		var all sync.WaitGroup
		for id := range writers {
			all.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-enough:
						return
					default:
					}
					row := fmt.Sprintf("%d-%d-%d", round, id, n)
					body := fmt.Sprintf(`{"PartitionKey":"p%02d","RowKey":"%s","Value":"%s"}`, n*37%partitions, row, payload)
					mu.Lock()
					tried[row] = true
					mu.Unlock()
					resp, _, err := request{method: "POST", target: "/many", body: body}.send(t.Context(), s, workerd.Client)
					if err == nil && resp.StatusCode == 201 {
						mu.Lock()
						answered[row] = true
						mu.Unlock()
						if done.Add(1) == each {
							close(enough)
						}
					} else if err == nil && resp.StatusCode != 503 && resp.StatusCode != 500 {
						t.Errorf("%d", resp.StatusCode)
						return
					}
				}
			})
		}
		<-enough
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	}
	s, err := workerd.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	seen := make(map[string]bool)
	for next := ""; ; {
		resp, body, err := request{method: "GET", target: "/many()?$select=RowKey&" + next}.send(t.Context(), s, workerd.Client)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %d %.300s", err, resp.StatusCode, body)
		}
		for _, m := range rowKeys.FindAllStringSubmatch(body, -1) {
			if seen[m[1]] || !tried[m[1]] {
				t.Errorf("%s is there twice, or was never written", m[1])
			}
			seen[m[1]] = true
		}
		if next = following(resp); next == "" {
			break
		}
	}
	for row := range answered {
		if !seen[row] {
			t.Errorf("%s was answered and is lost", row)
		}
	}
	objects := 0
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".sqlite") {
			objects++
		}
		return err
	})
	if t.Logf("%d entities in about %d objects after %d kills", len(seen), objects, *splitKills); err != nil || objects < 4 {
		t.Errorf("%d objects, %v", objects, err)
	}
}

var rowKeys = regexp.MustCompile(`"RowKey":"([^"]+)"`)

package workerd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/traffic"
	"edgetable/testdata/edge/workerd"
	waiting "edgetable/testdata/must"
)

// TestSplitAtOnce checks that a table splits as soon as it has two partitions, with the limits that the clients'
// suites use (Makefile). The statistics must list its ranges with keys and sizes.
func TestSplitAtOnce(t *testing.T) {
	s := sharing(t, "EDGETABLE_SPLIT_BYTES=1")
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"two"}`)
	var ranges []traffic.Range
	n := 0
	waiting.Eventually(t, "the table has three ranges", new(strings.Builder), func() bool {
		put(t, s, fmt.Sprintf("/two(PartitionKey='p%d',RowKey='r')", n%9))
		n++
		ranges = statistics(t, s, "two").Ranges
		return len(ranges) >= 3
	})
	if len(ranges) < 3 || ranges[0].From != "" || ranges[len(ranges)-1].To != "" {
		t.Fatalf("the ranges are %+v", ranges)
	}
	for i, r := range ranges {
		if i > 0 && r.From != ranges[i-1].To || r.Bytes == 0 || r.Bucket != 0 {
			t.Errorf("the ranges are %+v", ranges)
		}
	}
}

// put writes an entity, and retries while keys are moving to another object.
func put(t *testing.T, s *workerd.Server, target string) {
	t.Helper()
	for {
		switch status, answer := ask(t, s, "PUT", "acme", target, "", `{"Value":1}`); status {
		case 204:
			return
		case 503, 500: // entities are being moved to another object, or the outcome is unknown; in either case, repeat the write
		default:
			t.Fatalf("%d %s", status, answer)
		}
	}
}

// BenchmarkSplitServesMore measures how many more requests a table serves after its load has split it. The requests
// are reads of an entity, batches of 40 kB, and pages of 40 kB. On the platform, each object has its own processor
// and serves 1,000 requests a second. Here all objects share the processors of this machine. So an object of this
// benchmark serves one request at a time, in 40 ms: 25 requests a second. The platform also runs several isolates.
// This benchmark has only one isolate, with more wasm instances for large requests. The benchmark takes six minutes:
//
//	EDGETABLE_NEEDS=edge go test ./testdata/edge/workerd -run '^$' -bench SplitServesMore -benchtime 1x
func BenchmarkSplitServesMore(b *testing.B) {
	o := workerd.Options{Data: b.TempDir(), Log: workerd.Log(b), Module: roomy(b),
		Env: []string{acme, "EDGETABLE_OBJECT_WORK=40", ""}}
	l := &splitLoad{B: b}
	serve := func(rate string, f func()) {
		o.Env[2] = "EDGETABLE_SPLIT_RATE=" + rate
		s, err := workerd.Start(o)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Stop()
		l.s = s
		f()
	}
	serve("0", func() {
		l.send("POST", "/Tables", "application/json", `{"TableName":"busy"}`, 201)
		for n := range l.partitions() {
			l.batch(n)
		}
	})
	kinds := []struct {
		name string
		ask  func(n int) bool
	}{{"gets", l.get}, {"batches", l.batch}, {"pages", l.page}}
	for range b.N {
		one := map[string]float64{}
		serve("0", func() {
			for _, kind := range kinds {
				one[kind.name] = l.measure(kind.ask)
			}
		})
		serve("8", func() {
			for end := time.Now().Add(8 * time.Minute); l.ranges() < 4 && time.Now().Before(end); {
				l.measure(l.get)
			}
		})
		serve("0", func() {
			b.ReportMetric(float64(l.ranges()), "ranges")
			for _, kind := range kinds {
				several := l.measure(kind.ask)
				b.ReportMetric(several, kind.name+"/s")
				b.ReportMetric(several/one[kind.name], kind.name+"-times")
			}
		})
	}
}

// roomy builds a Worker that has as many wasm instances for large requests as for small ones, so that as many large
// requests are served at the same time.
func roomy(b *testing.B) string {
	built, err := workerd.Module("")
	if err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	if err := os.CopyFS(folder, os.DirFS(built)); err != nil {
		b.Fatal(err)
	}
	pool := filepath.Join(folder, "pool.mjs")
	text, err := os.ReadFile(pool)
	if err != nil {
		b.Fatal(err)
	}
	const few, more = "memory: 5 * MiB, most: 2,", "memory: 5 * MiB, most: 15,"
	if !strings.Contains(string(text), few) {
		b.Fatalf("%s has no line with %s", pool, few)
	}
	if err := os.WriteFile(pool, []byte(strings.Replace(string(text), few, more, 1)), 0o600); err != nil {
		b.Fatal(err)
	}
	return folder
}

// splitLoad sends requests to a table of 64 partitions of 40 kB.
type splitLoad struct {
	*testing.B
	s *workerd.Server
}

func (l *splitLoad) partitions() int { return 64 }

func (l *splitLoad) ranges() int { return len(statistics(l, l.s, "busy").Ranges) }

func (l *splitLoad) send(method, target, kind, body string, statuses ...int) (status int, answer string) {
	r := request{method: method, target: target, kind: kind, body: body}
	resp, answer, err := r.send(l.Context(), l.s, workerd.Client)
	if err != nil {
		l.Error(err)
		return 0, ""
	}
	if !slices.Contains(statuses, resp.StatusCode) {
		l.Errorf("%s %s: %d %s", method, target, resp.StatusCode, answer)
	}
	return resp.StatusCode, answer
}

func (l *splitLoad) partition(n int) string { return fmt.Sprintf("p%02d", n%l.partitions()) }

func (l *splitLoad) get(n int) bool {
	status, _ := l.send("GET", fmt.Sprintf("/busy(PartitionKey='%s',RowKey='0000')", l.partition(n)), "", "", 200, 503)
	return status == 200
}

func (l *splitLoad) batch(n int) bool {
	kind, body := batchOf("busy", l.partition(n), 40, 1000)
	status, answer := l.send("POST", "/$batch", kind, body, 202, 503)
	return status == 202 && !strings.Contains(answer, "odata.error")
}

func (l *splitLoad) page(n int) bool {
	status, answer := l.send("GET", "/busy()?$filter=PartitionKey%20eq%20'"+l.partition(n)+"'", "", "", 200, 503)
	return status == 200 && strings.Count(answer, `"RowKey"`) == 40
}

// measure returns the number of requests served per second. An isolate serves 15 small requests at a time. measure
// uses fewer clients, so that requests for statistics are served, too.
func (l *splitLoad) measure(ask func(n int) bool) float64 {
	const clients, measured = 12, 15 * time.Second
	var served atomic.Int64
	var group sync.WaitGroup
	stop := make(chan struct{})
	for id := range clients {
		group.Go(func() {
			for n := id; ; n += 37 {
				select {
				case <-stop:
					return
				default:
				}
				if ask(n) {
					served.Add(1)
				}
			}
		})
	}
	time.Sleep(measured)
	close(stop)
	rate := float64(served.Load()) / measured.Seconds()
	group.Wait()
	return rate
}

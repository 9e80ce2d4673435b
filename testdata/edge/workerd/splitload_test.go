package workerd_test

import (
	"fmt"
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

// TestSplitAtOnce checks that a table with the bound of the clients' suites (Makefile) splits
// as soon as it has two partitions, and that its ranges are told with keys and sizes.
func TestSplitAtOnce(t *testing.T) {
	s := start(t, "EDGETABLE_SPLIT_BYTES=1")
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

// put writes an entity; it tries again where keys are on their way to another object.
func put(t *testing.T, s *workerd.Server, target string) {
	t.Helper()
	for {
		switch status, answer := ask(t, s, "PUT", "acme", target, "", `{"Value":1}`); status {
		case 204:
			return
		case 503, 500: // 500: the outcome is unknown
		default:
			t.Fatalf("%d %s", status, answer)
		}
	}
}

// BenchmarkSplitServesMore measures how many more requests a table serves whose load has
// split it. An object of this benchmark serves a request in 40 ms and one at a time, 25 a second
// in place of the platform's 1,000: on the platform each object has a processor of its
// own, and here all share those of this machine. It takes five minutes:
//
//	go test ./testdata/edge/workerd -run '^$' -bench SplitServesMore -benchtime 1x
func BenchmarkSplitServesMore(b *testing.B) {
	s, err := workerd.Start(workerd.Options{Data: b.TempDir(), Log: workerd.Log(b),
		Env: []string{"EDGETABLE_ACCOUNTS=acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=", "EDGETABLE_SPLIT_RATE=8", "EDGETABLE_OBJECT_WORK=40"}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Stop()
	send := func(method, target, body string, statuses ...int) int {
		r := request{method: method, target: target, kind: "application/json", body: body}
		resp, answer, err := r.send(b.Context(), s, workerd.Client)
		if err != nil {
			b.Error(err)
			return 0
		}
		if !slices.Contains(statuses, resp.StatusCode) {
			b.Errorf("%s %s: %d %s", method, target, resp.StatusCode, answer)
		}
		return resp.StatusCode
	}
	// An isolate serves 15 small requests at a time: fewer clients leave room for statistics.
	const partitions, clients, measured = 64, 12, 15 * time.Second
	target := func(n int) string { return fmt.Sprintf("/busy(PartitionKey='p%02d',RowKey='r')", n%partitions) }
	send("POST", "/Tables", `{"TableName":"busy"}`, 201)
	for n := range partitions {
		send("PUT", target(n), `{"Value":1}`, 204)
	}
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
				if send("GET", target(n), "", 200, 503) == 200 {
					served.Add(1)
				}
			}
		})
	}
	rate := func() float64 {
		before := served.Load()
		time.Sleep(measured)
		return float64(served.Load()-before) / measured.Seconds()
	}
	ranges := func() int { return len(statistics(b, s, "busy").Ranges) }
	for range b.N {
		one, objects := rate(), 0
		for end := time.Now().Add(8 * time.Minute); objects < 4 && time.Now().Before(end); objects = ranges() {
			time.Sleep(5 * time.Second)
		}
		several := rate()
		b.ReportMetric(one, "one/s")
		b.ReportMetric(several, "several/s")
		b.ReportMetric(float64(objects), "objects")
		b.ReportMetric(several/one, "times")
	}
	close(stop)
	group.Wait()
}

package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// BenchmarkBesideFeed compares two tables of the same store: one with a feed, and one without options.
func BenchmarkBesideFeed(b *testing.B) {
	compare(b, 0, []contest{
		{"Insert64", 64, 250 * time.Millisecond, fed((*sides).insertInto), plain((*sides).insertInto), 0.75, 0},
		{"LoneInsert", 1, 25 * time.Millisecond, fed((*sides).insertInto), plain((*sides).insertInto), 0, 0},
		{"Batch100", 8, 250 * time.Millisecond, fed((*sides).batchInto), plain((*sides).batchInto), 0.95, 0},
	})
}

var followed = table.RecordKey{Account: "acct", Table: "followed"}

func fed(do func(*sides, table.RecordKey, int) error) func(*sides, int) error {
	return func(s *sides, n int) error {
		s.once.Do(func() {
			_, err := s.store.WriteRecord(context.Background(), table.Record{Key: followed, Incarnation: table.Incarnation{2}, Traits: feeding()})
			if err != nil {
				panic(err)
			}
		})
		return do(s, followed, n)
	}
}

func (s *sides) batchInto(t table.RecordKey, n int) error {
	_, err := s.store.Commit(context.Background(), t, hundred(n))
	return err
}

// hundred returns 100 inserts of entities into one partition.
func hundred(n int) []table.Mutation {
	m := make([]table.Mutation, 100)
	for i := range m {
		m[i] = table.Mutation{Key: key.Append(nil, fmt.Sprintf("batch-%09d", n), fmt.Sprintf("row-%02d", i)), Nonce: 1, Condition: table.Absent, Properties: payload}
	}
	return m
}

// BenchmarkReadFeed reads a feed that single inserts have made, in pages of 1,000 changes. Each change has its entity.
func BenchmarkReadFeed(b *testing.B) {
	s := newSides(b, 64, 0)
	insert := fed((*sides).insertInto)
	must.OK(b, insert(s, int(s.next.Add(1))))
	from, err := s.store.Changes(b.Context(), followed, table.FeedRequest{})
	must.OK(b, err)
	written := s.run(b, 64, 8*time.Second, insert)
	b.ResetTimer()
	for range b.N {
		events, begun := 0, time.Now()
		for at, more := &from.Next, true; more; {
			page, err := s.store.Changes(b.Context(), followed, table.FeedRequest{From: at, Changes: 1000})
			must.OK(b, err)
			for _, c := range page.Commits {
				for i := range c.Changes {
					if c.Changes[i].Row == nil {
						b.Fatal("a change without its entity")
					}
					events++
				}
			}
			at, more = &page.Next, page.More
		}
		if events != int(written) {
			b.Fatalf("%d events of %d", events, written)
		}
		rate := float64(events) / time.Since(begun).Seconds()
		b.ReportMetric(rate, "events/s")
		b.ReportMetric(float64(events), "events")
		if rate < 20_000 {
			b.Errorf("%.0f events a second are read, and should be 20,000", rate)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFeedDelay measures the time from an insert until a waiting reader gets the change, while other clients insert
// 5,000 entities per second.
func BenchmarkFeedDelay(b *testing.B) {
	s := newSides(b, 64, 0)
	insert := fed((*sides).insertInto)
	must.OK(b, insert(s, int(s.next.Add(1))))
	first, err := s.store.Changes(b.Context(), followed, table.FeedRequest{})
	must.OK(b, err)
	ctx, stop := context.WithCancel(b.Context())
	var mu sync.Mutex
	answered := map[edm.Ticks]time.Time{}
	var writers, reader sync.WaitGroup
	work := make(chan int)
	for range 64 {
		writers.Go(func() {
			for n := range work {
				ticks, err := s.store.Commit(context.Background(), followed, []table.Mutation{{Key: benchKey(n), Nonce: 1, Condition: table.Absent, Properties: payload}})
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				answered[ticks] = time.Now()
				mu.Unlock()
			}
		})
	}
	const inserts = 50_000
	told := map[edm.Ticks]time.Time{}
	reader.Go(func() {
		for at, ended := first.Next, false; ; {
			page, err := s.store.Changes(b.Context(), followed, table.FeedRequest{From: &at, Changes: 1000})
			if err != nil {
				b.Error(err)
				return
			}
			for _, c := range page.Commits {
				told[c.Ticks] = time.Now()
			}
			if at = page.Next; page.More || len(page.Commits) > 0 {
				continue
			}
			if ended {
				return
			}
			ended = s.store.AwaitChanges(ctx, followed, at) != nil
		}
	})
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	begun := time.Now()
	for range inserts / 10 { // this loop takes ten seconds
		<-tick.C
		for range 10 {
			work <- int(s.next.Add(1))
		}
	}
	close(work)
	rate := inserts / time.Since(begun).Seconds()
	writers.Wait()
	stop()
	reader.Wait()
	var delays []float64
	for ticks, at := range answered {
		heard, ok := told[ticks]
		if !ok {
			b.Fatalf("the commit of %d is not told", ticks)
		}
		delays = append(delays, float64(heard.Sub(at).Microseconds())/1000)
	}
	slices.Sort(delays)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rate, "inserts/s")
	b.ReportMetric(delays[len(delays)/2], "ms-p50")
	late := delays[len(delays)*99/100]
	if b.ReportMetric(late, "ms-p99"); late > 600 {
		b.Errorf("one of a hundred changes comes after %.0f ms, and should within 600", late)
	}
}

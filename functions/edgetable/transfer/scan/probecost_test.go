package scan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/functions/edgetable/transfer/internal/size"
	"edgetable/functions/edgetable/transfer/ranges"
)

// simulated is a service that answers each request after some time. It has one table with the given
// number of rows, 100 rows in each partition and in each page.
type simulated struct {
	rows        int
	way, jitter time.Duration // way: network latency of a request; jitter: the maximum random increase of the latency
	page, probe time.Duration // page: how long the service takes to read a page; probe: how long it takes to find one key
	turn        chan struct{} // semaphore of a service that answers one request at a time; otherwise nil

	mu      sync.Mutex
	rnd     *rand.Rand // source of the random latency
	readers int
	dozen   time.Duration // duration from the start until 12 of the 16 workers read at the same time
	began   time.Time
}

func (s *simulated) answer(ctx context.Context, work time.Duration) error {
	s.mu.Lock()
	if s.rnd == nil {
		s.rnd = rand.New(rand.NewPCG(1, 1))
	}
	way := s.way + time.Duration(s.rnd.Int64N(int64(s.jitter)+1))
	s.mu.Unlock()
	time.Sleep(way)
	if s.turn != nil {
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
	}
	time.Sleep(work)
	return ctx.Err()
}

func (s *simulated) key(i int) ranges.Key {
	return ranges.Key{Partition: fmt.Sprintf("p%06d", i/100), Row: fmt.Sprintf("r%09d", i)}
}

// place returns the number of the first row whose encoded key is not less than the given key.
func (s *simulated) place(at string) int {
	return sort.Search(s.rows, func(i int) bool {
		k := s.key(i)
		return string(key.Append(nil, k.Partition, k.Row)) >= at
	})
}

// find returns the first key that passes the filter of the query q. It implements [ranges.Prober].
func (s *simulated) find(ctx context.Context, q remote.Query) (ranges.Key, bool, error) {
	f, err := odata.Parse(q.Filter)
	if err == nil {
		err = s.answer(ctx, s.probe)
	}
	if err != nil {
		return ranges.Key{}, false, err
	}
	for _, r := range odata.MakePlan(f).Ranges {
		if i := s.place(string(r.Start)); i < s.rows && (len(r.End) == 0 || i < s.place(string(r.End))) {
			return s.key(i), true, nil
		}
	}
	return ranges.Key{}, false, nil
}

func (s *simulated) reader(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers += n; s.readers == 12 && s.dozen == 0 {
		s.dozen = time.Since(s.began)
	}
}

// read reads the rows of a range, page by page.
func (s *simulated) read(ctx context.Context, p *Task) error {
	s.reader(+1)
	defer s.reader(-1)
	defer p.End()
	r, end := p.Rest(), s.rows
	if (r.To != ranges.Key{}) {
		end = s.place(string(key.Append(nil, r.To.Partition, r.To.Row)))
	}
	for i := s.place(string(key.Append(nil, r.From.Partition, r.From.Row))); i < end; i++ {
		if i%100 == 0 {
			if err := s.answer(ctx, s.page); err != nil {
				return err
			}
		}
		if k := s.key(i); !p.Pass(k.Partition, k.Row) {
			return nil
		}
	}
	return nil
}

// TestProbeCost checks the cost of probes. A probe is a query for a key at which a table can be
// divided. A table of a distant service must be divided among the workers in the first seconds,
// although each probe takes long. A service that answers one request at a time cannot read during a
// probe. There, probes must increase the total time only a little.
func TestProbeCost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		*simulated
		serial      bool
		dozen, most time.Duration // two limits: dozen for the time until 12 workers read at once (0: no limit), most for the total time
	}{
		"near":   {&simulated{rows: 100_000, way: time.Millisecond, page: 5 * time.Millisecond, probe: 200 * time.Microsecond}, false, time.Second / 2, time.Second},
		"far":    {&simulated{rows: 100_000, way: 100 * time.Millisecond, page: 30 * time.Millisecond, probe: 2 * time.Millisecond}, false, 5 * time.Second, 20 * time.Second},
		"jitter": {&simulated{rows: 100_000, way: 50 * time.Millisecond, jitter: 30 * time.Millisecond, page: 30 * time.Millisecond, probe: 2 * time.Millisecond}, false, 10 * time.Second, 20 * time.Second},
		"serial": {&simulated{rows: 5000, page: 12 * time.Millisecond, probe: 8 * time.Millisecond}, true, 0, 690 * time.Millisecond}, // pages take 600 ms
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := tt.simulated
				if tt.serial {
					service.turn = make(chan struct{}, 1) // made here, because synctest requires that the test function itself makes the channel
				}
				service.began = time.Now()
				s := newScan(service.find)
				whole, err := ranges.WholeTable(t.Context(), s.probe, "")
				if err == nil {
					err = s.setTasks([]*Task{newTask(0, whole, ranges.FirstRank)}).run(t.Context(), 16, service.read)
				}
				if err != nil {
					t.Fatal(err)
				}
				rows := int64(0)
				for _, p := range s.tasks {
					rows += p.read()
				}
				took := time.Since(service.began)
				t.Logf("12 readers after %v, all rows after %v, in %d parts", service.dozen, took, len(s.tasks))
				if rows != int64(service.rows) || took > tt.most || tt.dozen > 0 && (service.dozen == 0 || service.dozen > tt.dozen) {
					t.Errorf("%d rows after %v of %v; 12 readers after %v of %v", rows, took, tt.most, service.dozen, tt.dozen)
				}
			})
		})
	}
}

func init() { size.WakeEvery, size.WorthDividing = 100, 400 }

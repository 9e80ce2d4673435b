package admission_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
)

// machine is a server with one core and a disk. Reading a request and writing its response also use the core. So even
// a refused request uses the core.
type machine struct {
	core chan struct{}
	disk func() time.Duration

	mu     sync.Mutex
	served map[string]int // how often each request was served, by its target
}

const (
	transport = 10 * time.Microsecond
	work      = 40 * time.Microsecond
)

func newMachine(seed uint64) *machine {
	r := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	return &machine{
		core:   make(chan struct{}, 1),
		served: make(map[string]int),
		disk: func() time.Duration { // 1 ms on average, with a long tail
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(r.ExpFloat64() * float64(time.Millisecond))
		},
	}
}

func (m *machine) compute(d time.Duration) {
	m.core <- struct{}{}
	time.Sleep(d)
	<-m.core
}

func (m *machine) Serve(_ context.Context, req *protocol.Request) protocol.Response {
	m.compute(work)
	time.Sleep(m.disk())
	m.mu.Lock()
	m.served[req.Target]++
	m.mu.Unlock()
	return protocol.Response{Status: 204}
}

// outcome is the result for the clients of one account.
type outcome struct {
	took    []time.Duration // durations of the served requests
	refused int
}

func (o *outcome) p99() time.Duration {
	if len(o.took) == 0 {
		return 0
	}
	slices.Sort(o.took)
	return o.took[len(o.took)*99/100]
}

// load makes the clients of each account send one request after the other for some time, and returns when all
// requests are answered. A client retries at once after a refusal, which is the worst case. Every request must either
// be served exactly once or be refused.
func load(t *testing.T, m *machine, p works, lasts time.Duration, clients map[string]int) map[string]*outcome {
	t.Helper()
	seen := make(map[string]*outcome)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for name, n := range clients {
		o := new(outcome)
		seen[name] = o
		for client := range n {
			wg.Go(func() {
				start := time.Now()
				for i := 0; time.Since(start) < lasts; i++ {
					sent := time.Now()
					m.compute(transport / 2)
					req := &protocol.Request{Host: name, Target: fmt.Sprint(name, client, i)}
					status := p.Serve(t.Context(), req).Status
					m.compute(transport / 2)
					m.mu.Lock()
					times := m.served[req.Target]
					delete(m.served, req.Target)
					m.mu.Unlock()
					mu.Lock()
					switch {
					case status == 204 && times == 1:
						o.took = append(o.took, time.Since(sent))
					case status == 503 && times == 0:
						o.refused++
					default:
						t.Errorf("%s was answered %d and served %d times", req.Target, status, times)
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	return seen
}

const concurrent = 32 // number of running requests at which the machine has its highest throughput

func limitedMachine(m *machine, maxWait time.Duration) front {
	return limited(m, admission.Options{Concurrent: concurrent, MaxWait: maxWait})
}

// committing makes the disk complete all waiting writes together every 2 ms. The clients of these writes then send
// their next requests at the same moment.
func (m *machine) committing() *machine {
	m.disk = func() time.Duration {
		const every = 2 * time.Millisecond
		return every - time.Duration(time.Now().UnixNano())%every
	}
	return m
}

// TestOverload checks a server with several times as many connections as it needs for its peak throughput. The
// throughput must be as high as at the peak, and served requests must not take much longer.
func TestOverload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why     string
		machine func() *machine
		percent int // maximum p99, in percent of the p99 at the peak
	}{
		{"a disk with a long tail", func() *machine { return newMachine(1) }, 200},
		// At the peak, a request takes as long as one commit of the disk. With more connections, a request may wait for a
		// free slot and for earlier commits. So its p99 may be four times the p99 at the peak.
		{"a disk that commits in groups", func() *machine { return newMachine(1).committing() }, 400},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			run := func(connections int) (o *outcome) {
				synctest.Test(t, func(t *testing.T) {
					m := tt.machine()
					l := limitedMachine(m, time.Second)
					o = load(t, m, l, 2*time.Second, map[string]int{"one": connections})["one"]
					if s := l.Stats(); s.Running != 0 || s.Waiting != 0 || int(s.Admitted) != len(o.took) || int(s.Refused) != o.refused {
						t.Errorf("with %d connections, stats are %+v after %d served and %d refused", connections, s, len(o.took), o.refused)
					}
				})
				return o
			}
			peak := run(concurrent)
			t.Logf("peak: %d served, p99 %v", len(peak.took), peak.p99())
			if peak.refused != 0 {
				t.Errorf("%d were refused at the peak", peak.refused)
			}
			for _, times := range []int{2, 4, 16} {
				over := run(times * concurrent)
				p99 := over.p99()
				t.Logf("%d×: %d served, p50 %v, p99 %v, %d refused", times, len(over.took), over.took[len(over.took)/2], p99, over.refused)
				if len(over.took)*100 < len(peak.took)*90 {
					t.Errorf("%d times the connections: %d served, of %d at the peak", times, len(over.took), len(peak.took))
				}
				if p99*100 > time.Duration(tt.percent)*peak.p99() {
					t.Errorf("%d times the connections: p99 is %v, at the peak %v", times, p99, peak.p99())
				}
			}
		})
	}
}

// TestUnlimited checks that the machine gets slow without a Limiter. If the machine stayed fast, the other tests in
// this file would prove nothing about the Limiter.
func TestUnlimited(t *testing.T) {
	t.Parallel()
	p99 := func(connections int) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(1)
			d = load(t, m, m, time.Second, map[string]int{"one": connections})["one"].p99()
		})
		return d
	}
	if peak, over := p99(concurrent), p99(16*concurrent); over < 3*peak {
		t.Errorf("p99 is %v at the peak and only %v with 16 times the connections", peak, over)
	}
}

// TestGreedy checks that an account with ten times the connections of other accounts gets the same share as each of
// them, and delays only its own requests.
func TestGreedy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why            string
		accounts, each int     // number of other accounts, and of connections of each
		greedy         int     // connections of the greedy account
		least, most    float64 // minimum throughput of an account, and maximum of the greedy account, in multiples of an equal share
		others         int     // maximum p99 of the other accounts, in multiples of the p99 at the peak
	}{
		{"each sends six times what can be served in time", 20, 6, 60, 0.6, 1.6, 12},
		{"who sends one at a time hardly waits", 4, 1, 10 * concurrent, 0.05, 5, 2},
		{"more accounts than can be served in time: turns go before time", 3 * concurrent, 1, concurrent, 0.5, 3, 4},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const lasts = time.Second
				m := newMachine(2)
				peak := load(t, m, limitedMachine(m, lasts/5), lasts, map[string]int{"one": concurrent})["one"]
				clients := map[string]int{"greedy": tt.greedy}
				for i := range tt.accounts {
					clients[fmt.Sprint("account", i)] = tt.each
				}
				l := limitedMachine(m, lasts/5)
				seen := load(t, m, l, lasts, clients)
				var all, others outcome
				for name, o := range seen {
					all.took = append(all.took, o.took...)
					if name != "greedy" {
						others.took = append(others.took, o.took...)
					}
				}
				share := float64(len(all.took)) / float64(len(seen))
				least := 1.0
				for name, o := range seen {
					got := float64(len(o.took)) / share
					switch {
					case name == "greedy" && got > tt.most:
						t.Errorf("the greedy one got %.2f of an equal share", got)
					case name != "greedy" && got < tt.least:
						t.Errorf("%s got %.2f of an equal share", name, got)
					case name != "greedy" && tt.each == 1 && o.refused > 0:
						t.Errorf("%s sends one at a time and was refused %d times", name, o.refused)
					}
					least = min(least, got)
				}
				t.Logf("served %d, at the peak %d; p99 %v of all, %v of the others, %v at the peak; shares from %.2f, the greedy one's %.2f",
					len(all.took), len(peak.took), all.p99(), others.p99(), peak.p99(), least, float64(len(seen["greedy"].took))/share)
				if len(all.took)*100 < len(peak.took)*90 {
					t.Errorf("%d were served, at the peak %d", len(all.took), len(peak.took))
				}
				if others.p99() > time.Duration(tt.others)*peak.p99() {
					t.Errorf("p99 %v of the others, at the peak %v", others.p99(), peak.p99())
				}
				if s := l.Stats(); s.Running != 0 || s.Waiting != 0 {
					t.Errorf("after the load, %+v", s)
				}
			})
		})
	}
}

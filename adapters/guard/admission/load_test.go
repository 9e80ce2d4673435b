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

// machine is a server with one core and a disk. Reading a request and writing
// its answer take the core too, also if it is refused: refusing is not free.
type machine struct {
	core chan struct{}
	disk func() time.Duration

	mu     sync.Mutex
	served map[string]int // by what the request is
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

// outcome is what the clients of one account saw.
type outcome struct {
	took    []time.Duration // of the requests that were served
	refused int
}

func (o *outcome) p99() time.Duration {
	if len(o.took) == 0 {
		return 0
	}
	slices.Sort(o.took)
	return o.took[len(o.took)*99/100]
}

// load has clients of each account send one request after the other for a while,
// and comes back when all were answered. Clients are as rude as they can be: a
// refused one comes again at once. Every request must be served once or refused.
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

const concurrent = 32 // where the machine does its most

func limitedMachine(m *machine, maxWait time.Duration) front {
	return limited(m, admission.Options{Concurrent: concurrent, MaxWait: maxWait})
}

// committing makes the disk write all waiting requests every 2 ms: they end at once
// and their clients repeat them at once.
func (m *machine) committing() *machine {
	m.disk = func() time.Duration {
		const every = 2 * time.Millisecond
		return every - time.Duration(time.Now().UnixNano())%every
	}
	return m
}

// TestOverload: with several times the connections that reach the peak, the
// throughput is the same, and served requests are served in time.
func TestOverload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why     string
		machine func() *machine
		percent int // of the p99 at the peak
	}{
		{"a disk with a long tail", func() *machine { return newMachine(1) }, 200},
		// At the peak a request takes one commit, and there is no tail. With more connections it waits for up to three others: for a place, for a
		// request that took the place before it, and for a commit that began before it came.
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

// TestUnlimited: the machine is one that needs a limit, or the tests around
// this one show nothing.
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

// TestGreedy: an account with ten times the connections of the others gets the same
// share as each of them, and delays only itself.
func TestGreedy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why            string
		accounts, each int     // and their connections
		greedy         int     // connections of the greedy one
		least, most    float64 // of an equal share: what each account gets, what the greedy one may
		others         int     // p99 of the other accounts, in multiples of the peak's
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

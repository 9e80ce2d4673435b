package admission_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
)

// scanSlice is the time that a query computes between two calls of Pause.
const scanSlice = 60 * time.Microsecond

// computer is a server with some processors. A processor serves work in the order in which it arrives.
type computer struct{ processors chan struct{} }

func (c computer) compute(d time.Duration) {
	c.processors <- struct{}{}
	time.Sleep(d)
	<-c.processors
}

// measureVictims measures an account that sends point reads on 4 connections, one after the other. Meanwhile another
// account sends requests on 64 connections. It returns the number of served point reads and their p99.
func measureVictims(t *testing.T, attack func(computer, *admission.Limiter)) (served int, p99 time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const lasts = 500 * time.Millisecond
		c := computer{make(chan struct{}, 2)}
		l := admission.New(new(protocol.Handler), admission.Options{MaxReads: 8, MaxLarge: 1})
		begin := time.Now()
		var took []time.Duration
		var mu sync.Mutex
		var wg sync.WaitGroup
		if attack != nil {
			for i := range 64 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * time.Microsecond)
					for time.Since(begin) < lasts {
						attack(c, l)
					}
				})
			}
		}
		for i := range 4 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Microsecond)
				for time.Since(begin) < lasts {
					sent := time.Now()
					c.compute(20 * time.Microsecond) // work before the request needs a slot, such as reading the request from the connection
					turn := takeTurn(l, t.Context(), protocol.Work{Payer: "victim", IsAccount: true, Cost: 20_000})
					if turn == nil {
						t.Error("a point read was refused")
						return
					}
					c.compute(20 * time.Microsecond)
					turn.End(20_000)
					mu.Lock()
					took = append(took, time.Since(sent))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(took)
		served, p99 = len(took), took[len(took)*99/100]
		for _, k := range l.Kinds() {
			if k.Running != 0 && k.Name != "large" || k.Waiting != 0 {
				t.Errorf("at the end: %+v", k)
			}
		}
	})
	return served, p99
}

// scan returns a query that takes 20 ms. If the parameter pauses is true, the query calls the method Pause after each
// slice.
func scan(pauses bool) func(computer, *admission.Limiter) {
	return func(c computer, l *admission.Limiter) {
		ctx := context.Background()
		turn := takeTurn(l, ctx, protocol.Work{Payer: "attacker", IsAccount: true, Query: true})
		if turn == nil {
			return
		}
		cost := int64(0)
		defer func() { turn.End(cost) }()
		for cost < int64(20*time.Millisecond) {
			c.compute(scanSlice)
			if cost += int64(scanSlice); pauses && turn.Pause(ctx, cost) {
				return
			}
		}
	}
}

// insert1 simulates a write of 1 MiB. The write uses a processor for 3 ms without a pause, and then waits for a sync
// of the disk.
func insert1(c computer, l *admission.Limiter) {
	cost := int64(10 << 20)
	turn := takeTurn(l, context.Background(), protocol.Work{Payer: "attacker", IsAccount: true, Write: true, Cost: cost})
	if turn == nil {
		return
	}
	c.compute(3 * time.Millisecond)
	time.Sleep(time.Millisecond)
	turn.End(cost)
}

// TestVictim compares an account with 4 connections alone and during an attack. The attacker is an account with 64
// connections, which send scans or large writes. During the attack, an equal share would be half of the first
// account's throughput. The account must get 80% of that half, which is 0.4 of its throughput. Its p99 may be 5 times
// as long.
func TestVictim(t *testing.T) {
	t.Parallel()
	alone, p99 := measureVictims(t, nil)
	for _, tt := range []struct {
		why    string
		attack func(computer, *admission.Limiter)
		fair   bool
	}{
		{"scans", scan(true), true},
		{"writes of 1 MiB", insert1, true},
		{"scans without pauses: the test can fail", scan(false), false},
	} {
		served, late := measureVictims(t, tt.attack)
		t.Logf("%s: %d served of %d, p99 %v of %v", tt.why, served, alone, late, p99)
		if fair := float64(served) >= 0.4*float64(alone) && late <= 5*p99; fair != tt.fair {
			t.Errorf("%s: %d served of %d alone, p99 %v of %v", tt.why, served, alone, late, p99)
		}
	}
}

// TestPause checks the pauses of queries. While only one account is active, its queries must not wait. When another
// account becomes active, the queries must move to the few slots for large requests. A few queries may wait for such
// a slot; the others must end their pages early, because a waiting query holds memory. When the other account is
// inactive again, the waiting queries must continue.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		l := admission.New(new(protocol.Handler), admission.Options{MaxReads: 2, MaxLarge: 1, MaxWait: time.Hour})
		const slice = 250_000
		begin := func() protocol.Turn {
			return takeTurn(l, ctx, protocol.Work{Payer: "scans", IsAccount: true, Query: true})
		}
		other := func() {
			takeTurn(l, ctx, protocol.Work{Payer: "other", IsAccount: true}).End(1)
		}
		expect := func(when string, reads, large, paused int) {
			t.Helper()
			k := l.Kinds()
			if k[1].Running != reads || k[2].Running != large || k[2].Waiting != paused {
				t.Fatalf("%s: %+v", when, k)
			}
		}
		first, second := begin(), begin()
		if first.Pause(ctx, slice) || second.Pause(ctx, slice) {
			t.Fatal("the end of a page, for nobody")
		}
		expect("alone", 2, 0, 0)
		go other() // a request of the other account, which waits for a slot
		synctest.Wait()
		if first.Pause(ctx, 2*slice) {
			t.Fatal("the end of a page, with a free slot")
		}
		synctest.Wait()
		expect("another account has come", 1, 1, 0)
		ended := make(chan bool, 3)
		go func() { ended <- second.Pause(ctx, 2*slice) }()
		synctest.Wait()
		expect("the second waits", 0, 1, 1)
		third, fourth := begin(), begin()
		go func() { ended <- third.Pause(ctx, slice) }()
		synctest.Wait()
		if !fourth.Pause(ctx, slice) {
			t.Error("a third query waits in the middle")
		}
		fourth.End(slice)
		expect("two wait", 0, 1, 2)
		time.Sleep(time.Second)
		if first.Pause(ctx, 3*slice) {
			t.Error("the end of a page, for nobody")
		}
		if one, other := <-ended, <-ended; one || other {
			t.Error("a page was ended although there is room again")
		}
		expect("all go on", 0, 3, 0)
		for _, turn := range []protocol.Turn{first, second, third} {
			turn.End(4 * slice)
		}
		expect("at the end", 0, 0, 0)
		if s := l.Stats(); s.Admitted != 5 || s.Refused != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestStrangers checks that a request without a known account is charged to its address. Such a request must not make
// the queries of an account wait.
func TestStrangers(t *testing.T) {
	t.Parallel()
	l := admission.New(new(protocol.Handler), admission.Options{MaxReads: 2, MaxLarge: 1})
	turn := takeTurn(l, t.Context(), protocol.Work{Payer: "acme", IsAccount: true, Query: true})
	takeTurn(l, t.Context(), protocol.Work{Payer: "?192.0.2.1"}).End(1)
	turn.Pause(t.Context(), 1<<30)
	if k := l.Kinds(); k[1].Running != 1 || k[2].Running != 0 {
		t.Errorf("strangers halve the server: %+v", k)
	}
}

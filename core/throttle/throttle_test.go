package throttle_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"edgetable/core/edm"
	"edgetable/core/throttle"
)

// clock is a clock that the test advances.
type clock struct{ ticks atomic.Int64 }

func (c *clock) now() edm.Ticks          { return edm.Ticks(c.ticks.Load()) }
func (c *clock) advance(d time.Duration) { c.ticks.Add(int64(d / 100)) }

func newClock() *clock {
	c := new(clock)
	c.ticks.Store(638_000_000_000_000_000)
	return c
}

func TestTake(t *testing.T) {
	t.Parallel()
	type step struct {
		after time.Duration
		n     int
		wait  time.Duration
	}
	for _, tt := range []struct {
		why         string
		rate, burst float64
		steps       []step
	}{
		{"a bucket begins full", 10, 3, []step{{0, 3, 0}, {0, 1, 100 * time.Millisecond}}},
		{"what was refused took nothing", 10, 3, []step{{0, 2, 0}, {0, 2, 100 * time.Millisecond}, {0, 1, 0}}},
		{"the wait is exact: a tick before is too early", 10, 1, []step{
			{0, 1, 0}, {100*time.Millisecond - 100, 1, 100}, {100, 1, 0}}},
		{"it fills up to the burst and no further", 10, 3, []step{{0, 3, 0}, {time.Hour, 3, 0}, {0, 1, 100 * time.Millisecond}}},
		{"more than the burst comes of a full bucket, which then owes", 10, 5, []step{
			{0, 10, 0}, {0, 1, 600 * time.Millisecond}, {600 * time.Millisecond, 1, 0}}},
		{"more than the burst waits for a full bucket", 10, 5, []step{{0, 1, 0}, {0, 10, 100 * time.Millisecond}}},
		{"nothing is always there", 10, 1, []step{{0, 1, 0}, {0, 0, 0}, {0, -1, 0}}},
		{"a burst of 0 is a second's worth", 10, 0, []step{{0, 10, 0}, {0, 1, 100 * time.Millisecond}}},
		{"a burst is one token at least", 0.5, 0, []step{{0, 1, 0}, {0, 1, 2 * time.Second}}},
		{"a rate of 0 is no limit", 0, 1, []step{{0, 1 << 40, 0}, {0, 1 << 40, 0}}},
		{"a rate that is no number of ticks", 3, 1, []step{{0, 1, 0}, {0, 1, 333_333_400}, {333_333_400, 1, 0}}},
		{"20000 a second", 20000, 20000, []step{{0, 20000, 0}, {0, 1, 50 * time.Microsecond}, {time.Second / 2, 10000, 0}, {0, 1, 50 * time.Microsecond}}},
		{"a number beyond all measure does not overflow", 1e-9, 1, []step{{0, 1 << 62, 0}, {0, 1, (1<<60 + 1023) / 1024 * 100}}},
		{"a clock that is set right, from 1970 on, fills", 10, 3, []step{
			{0, 3, 0}, {56 * 365 * 24 * time.Hour, 3, 0}, {0, 1, 100 * time.Millisecond}, {100 * time.Millisecond, 1, 0}}},
		{"a clock that steps back neither fills nor empties", 10, 1, []step{
			{0, 1, 0}, {-time.Hour, 1, 100 * time.Millisecond}, {100 * time.Millisecond, 1, 0}}},
	} {
		c := newClock()
		b := throttle.New(throttle.Options{Rate: tt.rate, Burst: tt.burst, Now: c.now})
		for i, s := range tt.steps {
			c.advance(s.after)
			if s.n == 1 {
				if got := b.Peek("a"); got != s.wait {
					t.Errorf("%s: step %d: Peek is %v, want %v", tt.why, i, got, s.wait)
				}
			}
			if got := b.Take("a", s.n); got != s.wait {
				t.Errorf("%s: step %d: Take(%d) is %v, want %v", tt.why, i, s.n, got, s.wait)
			}
		}
		if got := b.Take("b", 1); got != 0 {
			t.Errorf("%s: another key waits %v", tt.why, got)
		}
	}
}

// TestCharge checks that work that is already done is charged even if there are no tokens, and that the bucket
// recovers in time.
func TestCharge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why  string
		n    []int
		wait time.Duration // the time until the next token, at 10 tokens per second
	}{
		{"within the burst", []int{1, 1}, 0},
		{"all of it", []int{3}, 100 * time.Millisecond},
		{"more than is there", []int{2, 3}, 300 * time.Millisecond},
		{"far more: a debt of one burst", []int{100, 1 << 60, 100}, 400 * time.Millisecond},
		{"nothing", []int{0, -1}, 0},
	} {
		c := newClock()
		b := throttle.New(throttle.Options{Rate: 10, Burst: 3, Now: c.now})
		for _, n := range tt.n {
			b.Charge("a", n)
		}
		if got := b.Peek("a"); got != tt.wait {
			t.Errorf("%s: the next token comes after %v, want %v", tt.why, got, tt.wait)
		}
		c.advance(time.Second)
		if got := b.Take("a", 3); got != 0 {
			t.Errorf("%s: not forgiven after a second", tt.why)
		}
	}
	none := throttle.New(throttle.Options{})
	none.Charge("a", 1<<40)
	if none.Peek("a") != 0 {
		t.Error("there is a limit where there is none")
	}
}

// model is a simple form of Buckets. Tokens increase with time. If there is no space for a new key, the bucket
// nearest to full is dropped. Tokens are counted in ticks, at 1000 tokens per second.
type model struct {
	burst, keys int
	ticks       map[string]int
}

const perToken = 10_000

func (m *model) advance(ticks int) {
	for k := range m.ticks {
		m.ticks[k] = min(m.burst*perToken, m.ticks[k]+ticks)
		if m.ticks[k] == m.burst*perToken {
			delete(m.ticks, k)
		}
	}
}

func (m *model) take(key string, n int) bool {
	have, known := m.ticks[key]
	if !known {
		have = m.burst * perToken
	}
	if have < min(n, m.burst)*perToken {
		return false
	}
	if !known && len(m.ticks) == m.keys {
		var fullest string
		for k, v := range m.ticks {
			if fullest == "" || v > m.ticks[fullest] {
				fullest = k
			}
		}
		delete(m.ticks, fullest)
	}
	m.ticks[key] = have - n*perToken
	return true
}

// TestModel compares Buckets with the model. If there is no space, both must drop the same key. This is certain
// only if no two buckets are equally full. So no two steps of the test are a whole number of tokens apart in time.
func TestModel(t *testing.T) {
	t.Parallel()
	const steps = perToken / 7
	forgotten := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := newClock()
		m := &model{burst: 1 + r.IntN(200), keys: 1 + r.IntN(12), ticks: make(map[string]int)}
		b := throttle.New(throttle.Options{Rate: 1000, Burst: float64(m.burst), Keys: m.keys, Now: c.now})
		for i := range steps {
			ticks := 7 + perToken*r.IntN(60)*r.IntN(2)
			c.advance(time.Duration(ticks) * 100)
			m.advance(ticks)
			key := fmt.Sprint("k", r.IntN(2*m.keys))
			n := 1 + r.IntN(300)*r.IntN(2)
			if _, known := m.ticks[key]; !known && len(m.ticks) == m.keys {
				forgotten++
			}
			peek := b.Peek(key)
			wait := b.Take(key, n)
			took := m.take(key, n)
			if (wait == 0) != took {
				t.Fatalf("seed %d, step %d: Take(%s, %d) waits %v, the model took: %v", seed, i, key, n, wait, took)
			}
			if n == 1 && peek != wait {
				t.Fatalf("seed %d, step %d: Peek was %v, and then Take %v", seed, i, peek, wait)
			}
			if have, known := m.ticks[key]; !took && known {
				if want := time.Duration(min(n, m.burst)*perToken-have) * 100; wait != want {
					t.Fatalf("seed %d, step %d: wait of %v, in the model %v", seed, i, wait, want)
				}
			}
			if b.Len() > m.keys {
				t.Fatalf("seed %d, step %d: %d buckets, of %d", seed, i, b.Len(), m.keys)
			}
		}
	}
	if forgotten < 1000 {
		t.Errorf("only %d buckets in debt were dropped: the test proves nothing", forgotten)
	}
}

// TestManyKeys checks, with many shards, that keys do not affect each other while there is space, and that invented
// keys displace no bucket with fewer than 0 tokens.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := throttle.New(throttle.Options{Rate: 1, Burst: 10, Keys: 1 << 13, Now: c.now})
	for i := range 1000 {
		b.Take(fmt.Sprint("debtor", i), 100)
	}
	for i := range 100_000 {
		if wait := b.Take(fmt.Sprint("stranger", i), 1); wait != 0 {
			t.Fatalf("stranger %d waits %v", i, wait)
		}
	}
	for i := range 1000 {
		if want, got := 91*time.Second, b.Peek(fmt.Sprint("debtor", i)); got != want {
			t.Fatalf("debtor %d waits %v, want %v", i, got, want)
		}
	}
	if got := b.Len(); got > 1<<13 || got < 1<<12 {
		t.Errorf("%d buckets", got)
	}
}

// TestKeyIsCopied checks that the caller may reuse the memory of a key.
func TestKeyIsCopied(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := throttle.New(throttle.Options{Rate: 1, Burst: 1, Now: c.now})
	key := []byte("account")
	b.Take(unsafe.String(&key[0], len(key)), 1)
	copy(key, "another")
	if b.Take("another", 1) != 0 || b.Take("account", 1) == 0 {
		t.Error("the key of the bucket changed with the caller's memory")
	}
}

// TestConcurrent checks that all concurrent callers together get exactly the burst of a key.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := throttle.New(throttle.Options{Rate: 1, Burst: 1000, Keys: 1 << 12, Now: c.now})
	var taken [8]atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 8 * 500 {
				key := i % len(taken)
				if b.Take(fmt.Sprint("k", key), 1) == 0 {
					taken[key].Add(1)
				}
				b.Peek(fmt.Sprint("p", i))
			}
		})
	}
	wg.Wait()
	for i := range taken {
		if got := taken[i].Load(); got != 1000 {
			t.Errorf("key %d got %d tokens, of 1000", i, got)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	c := newClock()
	b := throttle.New(throttle.Options{Rate: 1e9, Now: c.now})
	b.Take("account", 1)
	if n := testing.AllocsPerRun(1000, func() { b.Take("account", 1); b.Peek("account") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

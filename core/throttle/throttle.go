// Package throttle limits rates by key: an account, a partition, the address of
// a client. Each key has a bucket of tokens that fills at a steady rate up to a
// burst; whoever does something takes tokens, and waits when there are too few.
//
//	b := throttle.New(throttle.Options{Rate: 2000, Burst: 2000, Keys: 1 << 16, Now: now})
//	if wait := b.Take(account, entities); wait > 0 {
//		return table.ServerBusy.Err() // could be done after wait
//	}
//
// # Buckets
//
// A bucket is one number, the moment at which it will be full: tokens taken move
// it into the future, and the passing of time does the filling. A bucket whose
// moment has passed says nothing that an absent bucket does not say, so keys that
// are idle need no memory.
//
// # Memory
//
// There are never more than [Options.Keys] buckets, however many keys strangers
// make up. A new key that finds no room takes the place of the bucket that is
// nearest to full: of a full one, nothing is lost; else the least that can be. So
// a bucket in debt goes only where all others owe as much, and then its key has
// its burst again early. The buckets are spread over shards by a hash of the key,
// each with its part of the room, and it is the nearest of the shard that goes.
package throttle

import (
	"math"
	"strings"
	"sync"
	"time"

	"edgetable/core/edm"
)

// Options of [Buckets].
type Options struct {
	// Rate is how many tokens a bucket gains a second; 0 is no limit at all.
	Rate float64
	// Burst is how many tokens a full bucket has, 1 at least; 0 is as many as it
	// gains in a second.
	Burst float64
	// Keys is how many buckets there may be; 0 is 65536. One costs about 100
	// bytes and its key.
	Keys int
	// Now is a clock. When it steps back, buckets stand still for that moment.
	Now func() edm.Ticks
}

// Buckets are the token buckets of all keys. They are safe for concurrent use.
type Buckets struct {
	now    func() edm.Ticks
	token  int64 // grains in which one token comes; 0: no limit
	burst  int64 // grains in which an empty bucket fills
	shards []shard
}

const (
	// A tick is this many grains, the unit of time here: fine enough for rates of
	// many millions a second, and 28 years fit into an int64.
	grains = 1 << 10
	// longest bounds what a burst or one Take amounts to, 3 years: sums of two
	// do not overflow.
	longest = 1 << 60
	// stride is the most that counts of the time between two looks at the clock, 11
	// months: a clock may be set from 1970 to today, and 28 years are all there is.
	stride = 1 << 58

	maxShards = 16
	// minShard is the least room of a shard: in a small one, keys would displace
	// each other while there is room elsewhere.
	minShard = 256
)

// New makes the buckets, all of them full.
func New(o Options) *Buckets {
	if o.Keys <= 0 {
		o.Keys = 1 << 16
	}
	if !(o.Rate > 0) {
		return &Buckets{}
	}
	if o.Burst == 0 {
		o.Burst = o.Rate
	}
	perToken := edm.TicksPerSecond * grains / o.Rate
	b := &Buckets{
		now:    o.Now,
		token:  clamp(perToken),
		burst:  clamp(perToken * math.Max(o.Burst, 1)),
		shards: make([]shard, min(maxShards, 1+o.Keys/minShard)),
	}
	for i := range b.shards {
		s := &b.shards[i]
		s.index = make(map[string]int32)
		s.room = o.Keys / len(b.shards)
		s.last = b.now()
	}
	return b
}

func clamp(grains float64) int64 { return int64(math.Min(math.Max(math.Round(grains), 1), longest)) }

// Take takes n tokens of a key and returns 0, or it takes nothing and returns
// after how long that many could be taken. More than the burst are taken from a
// full bucket, which then owes the rest: a batch is not refused for ever because
// it is large. The key may be changed after the call.
func (b *Buckets) Take(key string, n int) (wait time.Duration) {
	if b.token == 0 || n <= 0 {
		return 0
	}
	charge := int64(longest)
	if int64(n) < longest/b.token {
		charge = int64(n) * b.token
	}
	s := b.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tick(b.now())
	slot, known := s.index[key]
	if !known {
		s.insert(key, now, now+charge)
		return 0
	}
	e := &s.buckets[slot]
	// Full at the latest when the missing tokens are no more than can be missing.
	if late := e.full - now - (b.burst - min(charge, b.burst)); late > 0 {
		return duration(late)
	}
	e.full = max(e.full, now) + charge
	return 0
}

// Peek returns after how long one token could be taken, and takes nothing.
func (b *Buckets) Peek(key string) (wait time.Duration) {
	if b.token == 0 {
		return 0
	}
	s := b.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, known := s.index[key]
	if !known {
		return 0
	}
	if late := s.buckets[slot].full - s.tick(b.now()) - (b.burst - min(b.token, b.burst)); late > 0 {
		return duration(late)
	}
	return 0
}

// duration rounds up to ticks: after it, the tokens are there.
func duration(late int64) time.Duration { return time.Duration((late+grains-1)/grains) * 100 }

// shard finds the shard of a key by its FNV-1a hash.
func (b *Buckets) shard(key string) *shard {
	if len(b.shards) == 1 {
		return &b.shards[0]
	}
	h := uint32(2166136261)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return &b.shards[(h^h>>16)%uint32(len(b.shards))]
}

// shard is a part of the buckets under one lock.
type shard struct {
	mu      sync.Mutex
	index   map[string]int32 // of buckets
	buckets []bucket
	order   []place // a heap
	room    int
	last    edm.Ticks // what the clock showed
	elapsed int64     // grains that went by

	_ [40]byte // shards do not share a cache line
}

type bucket struct {
	key  string
	full int64 // the moment, in elapsed, at which it will be full
}

// place of a bucket in the heap of those to be forgotten, the first at the root.
type place struct {
	// full is the bucket's, as it was: the bucket's own only moves on. A place is
	// corrected when it comes to the root, so that Take need not do it.
	full int64
	slot int32
}

// tick is the time that went by for the buckets. What the clock loses when it
// steps back does not count, in either direction.
func (s *shard) tick(now edm.Ticks) int64 {
	if now > s.last {
		s.elapsed += min(int64(now-s.last), stride/grains) * grains
	}
	s.last = now
	return s.elapsed
}

// insert adds the bucket of a key, in place of the one nearest to full where
// there is no room: O(log n), as each Take makes at most one place to correct.
func (s *shard) insert(key string, now, full int64) {
	key = strings.Clone(key)
	if len(s.buckets) < s.room {
		slot := int32(len(s.buckets))
		s.buckets = append(s.buckets, bucket{key, full})
		s.order = append(s.order, place{full, slot})
		s.up(len(s.order) - 1)
		s.index[key] = slot
		return
	}
	for {
		root := &s.order[0]
		is := s.buckets[root.slot].full
		if is <= now || is == root.full {
			break
		}
		root.full = is
		s.down()
	}
	slot := s.order[0].slot
	delete(s.index, s.buckets[slot].key)
	s.buckets[slot] = bucket{key, full}
	s.order[0].full = full
	s.down()
	s.index[key] = slot
}

func (s *shard) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if s.order[parent].full <= s.order[i].full {
			return
		}
		s.order[parent], s.order[i] = s.order[i], s.order[parent]
		i = parent
	}
}

// down sinks the root to where it belongs.
func (s *shard) down() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.order); child++ {
			if s.order[child].full < s.order[least].full {
				least = child
			}
		}
		if least == i {
			return
		}
		s.order[least], s.order[i] = s.order[i], s.order[least]
		i = least
	}
}

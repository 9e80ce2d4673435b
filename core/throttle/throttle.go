// Package throttle implements rate limits per key, which is an account, a partition, or the address of a client. Each
// key has a token bucket that refills at a steady rate up to a burst. An operation takes tokens, and must wait if there
// are too few.
//
//	b := throttle.New(throttle.Options{Rate: 2000, Burst: 2000, Keys: 1 << 16, Now: now})
//	if wait := b.Take(account, entities); wait > 0 {
//		return table.ServerBusy.Err() // retry after wait
//	}
//
// # Buckets
//
// A token bucket is stored as one number, the time at which it will be full. Taking a token moves this time further
// into the future. A full bucket is equivalent to a missing one, so idle keys need no memory.
//
// # Memory
//
// There are at most [Options.Keys] buckets, even if clients invent keys. At this limit, a new key replaces the bucket
// nearest to full, because this loses the least. A bucket with a debt (fewer than 0 tokens) is dropped only if all
// others owe at least as much. Its key then regains its burst early. The buckets are divided into shards by a hash of
// the key. Each shard has an equal part of the limit, and a new key replaces a bucket of the same shard.
package throttle

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"time"

	"edgetable/core/edm"
)

// Options configure [Buckets].
type Options struct {
	// Rate is the number of tokens that a bucket gains per second; 0 means no limit.
	Rate float64
	// Burst is the capacity of a bucket in tokens, at least 1. 0 means the number of tokens gained in one second.
	Burst float64
	// Keys is the maximum number of buckets in memory; 0 means 65536. A bucket needs about 100 bytes plus its key.
	Keys int
	// Now returns the current time. If the clock steps back, buckets gain no tokens from that reading, and later
	// readings count from the new time.
	Now func() edm.Ticks
}

// Buckets holds the token buckets of all keys. It is safe for concurrent use.
type Buckets struct {
	now    func() edm.Ticks
	token  int64 // time to gain one token, in grains; 0 means no limit
	burst  int64 // time to fill an empty bucket, in grains
	shards []shard
}

const (
	// grains is the number of grains in 100 ns. The grain, this package's unit of time, is short enough for many
	// millions of tokens per second; an int64 can hold 28 years.
	grains = 1 << 10
	// longest is the maximum time for a burst or a Take in grains, 3 years. The sum of two such times does not overflow
	// an int64.
	longest = 1 << 60
	// stride is the maximum time in grains that counts between two readings of the clock: 11 months. It prevents an
	// overflow if a clock jumps from 1970 to today.
	stride = 1 << 58

	maxShards = 16
	// minShard is the minimum capacity of a shard in buckets. In smaller shards, keys would replace each other although
	// other shards still have room.
	minShard = 256
)

// New returns Buckets whose buckets are all full.
func New(o Options) *Buckets {
	if o.Keys <= 0 {
		o.Keys = 1 << 16
	}
	if !(o.Rate > 0) {
		return &Buckets{}
	}
	o.Burst = cmp.Or(o.Burst, o.Rate)
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

// Take takes n tokens of a key and returns 0. If there are too few tokens, it takes none and returns the time to wait.
// If n exceeds the burst, a full bucket suffices. Take does not retain the key.
func (b *Buckets) Take(key string, n int) (wait time.Duration) {
	if b.token == 0 || n <= 0 {
		return 0
	}
	charge := b.charge(n, longest)
	s, now, e := b.find(key)
	defer s.mu.Unlock()
	if late := b.waitTime(e, now, charge); late > 0 {
		return late
	}
	s.put(key, e, now, max(e.fullAt, now)+charge)
	return 0
}

// Charge takes n tokens of a key for work that is already done, even if there are too few. A bucket can owe at most one
// burst, which limits the wait after many concurrent operations.
func (b *Buckets) Charge(key string, n int) {
	if b.token == 0 || n <= 0 {
		return
	}
	charge := b.charge(n, 2*b.burst)
	s, now, e := b.find(key)
	defer s.mu.Unlock()
	s.put(key, e, now, max(e.fullAt, min(max(e.fullAt, now)+charge, now+2*b.burst)))
}

// Peek returns how long to wait until one token can be taken. It takes nothing.
func (b *Buckets) Peek(key string) (wait time.Duration) {
	if b.token == 0 {
		return 0
	}
	s, now, e := b.find(key)
	defer s.mu.Unlock()
	return b.waitTime(e, now, b.token)
}

// charge returns the time in which a bucket gains n tokens, limited to the given maximum. Both times are in grains.
func (b *Buckets) charge(n int, most int64) int64 {
	if int64(n) < most/b.token {
		return int64(n) * b.token
	}
	return most
}

// waitTime returns how long to wait until a bucket has enough tokens for a charge, or 0.
func (b *Buckets) waitTime(e *bucket, now, charge int64) time.Duration {
	if late := e.fullAt - now - (b.burst - min(charge, b.burst)); late > 0 {
		return duration(late)
	}
	return 0
}

// find locks the shard of a key. It returns the shard, the shard's time, and the bucket of the key, or &full if there
// is none.
func (b *Buckets) find(key string) (s *shard, now int64, e *bucket) {
	s = b.shard(key)
	s.mu.Lock()
	now = s.tick(b.now())
	if slot, known := s.index[key]; known {
		return s, now, &s.buckets[slot]
	}
	return s, now, &fullBucket
}

// fullBucket is used for every key without a bucket in memory: the bucket of such a key is full.
var fullBucket bucket

// duration converts grains to a duration. It rounds up to 100 ns, so that the bucket has enough tokens afterwards.
func duration(late int64) time.Duration { return time.Duration((late+grains-1)/grains) * 100 }

// shard returns the shard that the FNV-1a hash of the key selects.
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

// shard is a part of the buckets with a separate lock.
type shard struct {
	mu      sync.Mutex
	index   map[string]int32 // index in buckets by key
	buckets []bucket
	order   []entry // a heap whose root is the bucket nearest to full
	room    int
	last    edm.Ticks
	elapsed int64 // time since New, in grains

	_ [40]byte // padding that prevents false sharing of a cache line between shards
}

type bucket struct {
	key    string
	fullAt int64 // value of shard.elapsed at which the bucket is full
}

// entry is the heap entry of a bucket. The bucket at the root is dropped next.
type entry struct {
	// fullAt is a copy of bucket.fullAt that may be too low, because Take does not update the heap. insert corrects the
	// copy when the entry is at the root.
	fullAt int64
	slot   int32
}

// tick sets the clock of the shard and returns the time since New in grains. If the clock has stepped back, it returns
// the previous result.
func (s *shard) tick(now edm.Ticks) int64 {
	if now > s.last {
		s.elapsed += min(int64(now-s.last), stride/grains) * grains
	}
	s.last = now
	return s.elapsed
}

// put sets the moment at which the bucket of key will be full. It inserts the bucket if necessary.
func (s *shard) put(key string, e *bucket, now, fullAt int64) {
	if e == &fullBucket {
		s.insert(key, now, fullAt)
	} else {
		e.fullAt = fullAt
	}
}

// insert adds the bucket of a key. If the shard has no room, it replaces the bucket nearest to full. The amortized time
// is O(log n).
func (s *shard) insert(key string, now, fullAt int64) {
	key = strings.Clone(key)
	if len(s.buckets) < s.room {
		slot := int32(len(s.buckets))
		s.buckets = append(s.buckets, bucket{key, fullAt})
		s.order = append(s.order, entry{fullAt, slot})
		s.up(len(s.order) - 1)
		s.index[key] = slot
		return
	}
	// Each Take makes at most one copy in the heap too low. This loop corrects such a copy in O(log n).
	for {
		root := &s.order[0]
		is := s.buckets[root.slot].fullAt
		if is <= now || is == root.fullAt {
			break
		}
		root.fullAt = is
		s.siftDown()
	}
	slot := s.order[0].slot
	delete(s.index, s.buckets[slot].key)
	s.buckets[slot] = bucket{key, fullAt}
	s.order[0].fullAt = fullAt
	s.siftDown()
	s.index[key] = slot
}

func (s *shard) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if s.order[parent].fullAt <= s.order[i].fullAt {
			return
		}
		s.order[parent], s.order[i] = s.order[i], s.order[parent]
		i = parent
	}
}

// siftDown restores the heap order after the root has changed.
func (s *shard) siftDown() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.order); child++ {
			if s.order[child].fullAt < s.order[least].fullAt {
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

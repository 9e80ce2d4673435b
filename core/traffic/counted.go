package traffic

import (
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// counted holds the counts of one table.
type counted struct {
	name    // account, and table name in lower case
	written string
	missed  atomic.Uint64

	mu    sync.Mutex
	now   edm.Ticks
	tally Tally
	old   window
	grid  grid
	key   []byte // buffer for encoding a key
	exact int    // number of reads by key since the last Tick

	// thisMinute is the number of requests since the last full minute. requests is a weighted number of earlier
	// requests; each minute, decay makes them count less.
	thisMinute, requests uint64
}

func newCounted(n name, written string, now edm.Ticks) *counted {
	t := &counted{name: n, written: written, now: now}
	t.tally.start(now, ofTable)
	t.old = newWindow(0, ofTable)
	t.grid.at, t.grid.random = now-now%minute, 88172645463325252
	return t
}

func (t *counted) add(v *Visit) {
	t.thisMinute++
	weight := 1
	if v.byKey() {
		t.tally.sumRead(v)
		if t.exact++; t.exact > exactReads {
			if t.grid.next()%sampling != 0 {
				return
			}
			weight = sampling
		}
	}
	from := v.From
	if from == nil && v.InPartition {
		t.key = key.Append(t.key[:0], v.PartitionKey, v.RowKey)
		from = t.key
	}
	if from == nil {
		from = []byte{} // the start of the table, where a query of the whole table begins
	}
	t.tally.count(v, from, weight)
	switch {
	case v.Throttled:
		t.grid.add(from, throttled, 1)
	case v.Plan != "":
		t.grid.add(from, reads, 1)
		t.grid.spread(from, v.To, scanned, v.Scanned)
	case v.Write:
		t.grid.add(from, writes, v.Entities)
	default:
		t.grid.add(from, reads, v.Entities*weight)
	}
}

func (t *counted) tick(now edm.Ticks) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now-t.now%minute != now-now%minute {
		t.requests, t.thisMinute = decay(t.requests+t.thisMinute), 0
	}
	t.now = now
	t.exact = 0
	t.tally.Tick(now)
	t.tally.totals.Missed += t.missed.Swap(0)
	t.grid.tick(now)
	if t.tally.Full() {
		t.old = t.tally.window
		t.tally.Next()
	}
}

package traffic

import (
	"slices"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// counted holds the counts of one table.
type counted struct {
	name    // in lower case
	written string
	missed  atomic.Uint64

	mu          sync.Mutex
	now         edm.Ticks
	window, old window
	grid        grid
	ends        ends
	key         []byte // scratch
	second      [64]recentWrites
	lately      [8]uint64 // partitions of the last writes since the last Tick
	writes      uint64
	ticks       uint64
	exact       int    // reads by key since the last Tick
	thisMinute  uint64 // requests
	lastMinute  uint64
}

// recentWrites is the number of writes to a partition since the last Tick.
type recentWrites struct{ id, tick, n uint64 }

func newCounted(n name, written string, now edm.Ticks) *counted {
	t := &counted{name: n, written: written, now: now}
	t.window.since, t.grid.at, t.grid.random = now, now-now%minute, 88172645463325252
	return t
}

// add counts a request.
func (t *counted) add(v *Visit) {
	t.thisMinute++
	w := &t.window
	weight := 1
	if !v.Write && v.Plan == "" && !v.Throttled {
		w.totals.Reads += uint64(v.Entities)
		w.totals.ReadBytes += uint64(v.Bytes)
		if t.exact++; t.exact > exactReads {
			if t.grid.next()%sampling != 0 {
				return
			}
			weight = sampling
		}
	}
	from := v.From
	var id uint64
	if v.InPartition {
		id = hash(v.PartitionKey)
		t.key = key.Append(t.key[:0], v.PartitionKey, v.RowKey)
		if from == nil {
			from = t.key
		}
	}
	switch {
	case v.Throttled:
		w.totals.Throttled++
		t.count(throttled, id, v, from, 1)
	case v.Plan != "":
		w.totals.Queries++
		w.totals.Scanned += uint64(v.Scanned)
		w.totals.ScannedBytes += uint64(v.ScannedBytes)
		w.totals.Returned += uint64(v.Returned)
		w.query(v)
		if v.InPartition {
			w.heavy[scanned].add(id, v.PartitionKey, uint64(v.Scanned))
			w.heavy[reads].add(id, v.PartitionKey, 1)
		}
		t.grid.add(cutStart(from), reads, 1)
		t.grid.spread(from, v.To, scanned, v.Scanned)
	case v.Write:
		t.write(v, id)
	default:
		t.count(reads, id, v, t.key, v.Entities*weight)
	}
}

// cutStart returns a key; a query of a whole table starts before all keys.
func cutStart(k []byte) []byte {
	if k == nil {
		return []byte{}
	}
	return k
}

func (t *counted) count(metric int, id uint64, v *Visit, k []byte, n int) {
	if v.InPartition {
		t.window.heavy[metric].add(id, v.PartitionKey, uint64(n))
	}
	t.grid.add(cutStart(k), metric, n)
}

func (t *counted) write(v *Visit, id uint64) {
	w := &t.window
	w.totals.Writes += uint64(v.Entities)
	w.totals.WrittenBytes += uint64(v.Bytes)
	w.totals.WriteUnits += uint64(max((v.Bytes+1023)/1024, v.Entities))
	w.totals.WriteRequests++
	recent := &t.second[(id^id>>32)%uint64(len(t.second))]
	if recent.id != id || recent.tick != t.ticks {
		*recent = recentWrites{id: id, tick: t.ticks}
	}
	if v.Batch {
		w.totals.Batches++
		w.totals.BatchEntities += uint64(v.Entities)
	} else if slices.Contains(t.lately[:], id) {
		w.totals.Batchable++
	}
	t.lately[t.writes%uint64(len(t.lately))] = id
	t.writes++
	if recent.n += uint64(v.Entities); recent.n > w.totals.SecondMost {
		w.totals.SecondMost = recent.n
		if w.totals.SecondMostIn != v.PartitionKey {
			w.totals.SecondMostIn = clone(v.PartitionKey, maxName)
		}
	}
	if uint64(v.Largest) > w.totals.Largest {
		w.totals.Largest, w.totals.LargestIn = uint64(v.Largest), clone(v.PartitionKey, maxName)
	}
	if v.Inserts > 0 {
		w.distinct(id)
		n := uint64(v.Inserts)
		judged, atEnd, atStart := t.ends.insert(t.key)
		if judged {
			w.totals.Judged += n
		}
		if atEnd {
			w.totals.AtEnd += n
		}
		if atStart {
			w.totals.AtStart += n
		}
		if (atEnd || atStart) && w.totals.LastInserted == "" {
			w.totals.LastInserted = clone(v.PartitionKey+" / "+v.RowKey, 2*maxName)
		}
	}
	t.count(writes, id, v, t.key, v.Entities)
}

// tick moves the table to a time.
func (t *counted) tick(now edm.Ticks) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now-t.now%minute != now-now%minute {
		t.lastMinute, t.thisMinute = t.thisMinute, 0
	}
	t.now = now
	t.ticks++
	t.exact = 0
	t.lately = [8]uint64{}
	t.window.totals.Missed += t.missed.Swap(0)
	t.grid.tick(now)
	if now-t.window.since >= day {
		t.old = t.window
		t.window = window{since: now}
	}
}

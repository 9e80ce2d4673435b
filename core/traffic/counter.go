package traffic

import (
	"strings"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/key"
)

const (
	busiest = 16  // tables that are counted
	aliases = 256 // spellings of their names that are found without a lock
	waiting = 256 // other tables whose requests are counted until the next minute
)

// Counter counts the requests of all tables. It is safe for concurrent use.
type Counter struct {
	known atomic.Pointer[map[name]*counted] // by their names as written

	mu      sync.Mutex // guards what follows, and changes of known
	tables  []*counted
	waiting map[name]uint64
	now     edm.Ticks
}

type name struct{ account, table string }

// New returns a Counter. The first Tick must follow before the first Add.
func New() *Counter {
	c := &Counter{waiting: make(map[name]uint64)}
	c.known.Store(&map[name]*counted{})
	return c
}

// Add counts a request.
func (c *Counter) Add(v *Visit) {
	t := (*c.known.Load())[name{v.Account, v.Table}]
	if t == nil {
		if t = c.find(v); t == nil {
			return
		}
	}
	if !t.mu.TryLock() {
		t.missed.Add(1)
		return
	}
	t.add(v)
	t.mu.Unlock()
}

// find returns the table of a visit and remembers the spelling of its name. It is nil
// for a table that is not counted.
func (c *Counter) find(v *Visit) *counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	folded := name{strings.Clone(v.Account), strings.ToLower(v.Table)}
	t := c.table(folded)
	if t == nil && len(c.tables) < busiest {
		t = newCounted(folded, strings.Clone(v.Table), c.now)
		c.tables = append(c.tables, t)
	}
	if t == nil {
		if _, known := c.waiting[folded]; known || len(c.waiting) < waiting {
			c.waiting[folded]++
		}
		return nil
	}
	c.learn(name{folded.account, strings.Clone(v.Table)}, t)
	return t
}

func (c *Counter) table(n name) *counted {
	for _, t := range c.tables {
		if t.name == n {
			return t
		}
	}
	return nil
}

// learn makes a spelling known.
func (c *Counter) learn(written name, t *counted) {
	old := *c.known.Load()
	changed := make(map[name]*counted, len(old)+1)
	if len(old) < aliases {
		for n, t := range old {
			changed[n] = t
		}
	}
	changed[written] = t
	c.known.Store(&changed)
}

// Tick moves all tables to a time. The owner calls it every second or so, and
// after it made the Counter.
func (c *Counter) Tick(now edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.now-c.now%minute != now-now%minute
	c.now = now
	for _, t := range c.tables {
		t.tick(now)
	}
	if passed {
		c.replace()
	}
}

// replace begins to count the busiest of the other tables, if it had more requests in
// the last minute than a table that is counted.
func (c *Counter) replace() {
	var next name
	most := uint64(0)
	for n, requests := range c.waiting {
		if requests > most || requests == most && (n.account+"/"+n.table) < (next.account+"/"+next.table) {
			next, most = n, requests
		}
	}
	clear(c.waiting)
	if most == 0 {
		return
	}
	least := 0
	for i, t := range c.tables {
		if t.lastMinute < c.tables[least].lastMinute {
			least = i
		}
	}
	if most <= c.tables[least].lastMinute {
		return
	}
	gone := c.tables[least]
	c.tables[least] = newCounted(next, next.table, c.now)
	known := make(map[name]*counted)
	for n, t := range *c.known.Load() {
		if t != gone {
			known[n] = t
		}
	}
	c.known.Store(&known)
}

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
	ticks       uint64
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
		w.totals.Reads += uint64(v.Entities)
		w.totals.ReadBytes += uint64(v.Bytes)
		t.count(reads, id, v, t.key, v.Entities)
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
	} else if recent.n > 0 {
		w.totals.Batchable++
	}
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
	t.window.totals.Missed += t.missed.Swap(0)
	t.grid.tick(now)
	if now-t.window.since >= day {
		t.old = t.window
		t.window = window{since: now}
	}
}

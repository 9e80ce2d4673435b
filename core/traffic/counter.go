package traffic

import (
	"strings"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

const (
	busiest    = 16   // maximum number of tables with detailed counts (type counted)
	aliases    = 256  // maximum number of spellings of table names in Counter.known
	exactReads = 1000 // number of reads by key that are counted exactly after each Tick
	sampling   = 8    // of this number of further reads, one is counted, with this number as its weight

	waiting = 256  // maximum number of tables that have only a count of requests
	fading  = 1024 // each minute, a count of requests is reduced by a part of 1/fading
)

// Counter counts the requests to all tables. It keeps detailed counts, such as those of each partition, only for the
// busiest tables. It is safe for concurrent use.
type Counter struct {
	known atomic.Pointer[map[string][]spelled] // tables with detailed counts, by name as spelled in requests
	hours hours

	mu      sync.Mutex // the mutex guards the fields below, and each replacement of known
	tables  []*counted
	waiting map[name]uint64
	now     edm.Ticks
}

type name struct{ account, table string }

// spelled is an element of a list in Counter.known, which has the tables of all accounts under one spelling of a name.
// Names are case-insensitive, so a table may be in several lists.
type spelled struct {
	account string
	*counted
}

// New returns a Counter. Call Tick before the first Add.
func New() *Counter {
	c := &Counter{waiting: make(map[name]uint64), hours: hours{tables: make(map[string]*hourly)}}
	c.known.Store(&map[string][]spelled{})
	return c
}

// Add counts one request.
func (c *Counter) Add(v *Visit) {
	c.hours.add(v)
	if v.Tool {
		return
	}
	var t *counted
	for _, s := range (*c.known.Load())[v.Table] {
		if s.account == v.Account {
			t = s.counted
		}
	}
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

// find returns the counts of the table of a request, and records the request's spelling of the name. For a table
// without detailed counts it returns nil.
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
	c.addSpelling(strings.Clone(v.Table), t)
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

// addSpelling adds a spelling of the name of table t to Counter.known.
func (c *Counter) addSpelling(written string, t *counted) {
	known := c.knownWithout(nil)
	if len(known) >= aliases {
		clear(known)
	}
	known[written] = append(known[written], spelled{t.account, t})
	c.known.Store(&known)
}

// knownWithout returns a copy of Counter.known without the entries of one table.
func (c *Counter) knownWithout(gone *counted) map[string][]spelled {
	known := make(map[string][]spelled)
	for written, list := range *c.known.Load() {
		for _, s := range list {
			if s.counted != gone {
				known[written] = append(known[written], s)
			}
		}
	}
	return known
}

// Tick advances the counts of all tables to now. The owner calls it once after New, and then about every second.
func (c *Counter) Tick(now edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.now-c.now%minute != now-now%minute
	c.now = now
	c.hours.tick(now)
	for _, t := range c.tables {
		t.tick(now)
	}
	if passed {
		c.replace()
	}
}

// replace compares the least busy table with detailed counts and the busiest table without. If the second table is
// busier, it gets the place of the first.
//
// Requests count less with time: after a day, a request counts about a quarter.
func (c *Counter) replace() {
	var next name
	most, full := uint64(0), len(c.waiting) == waiting
	for n, requests := range c.waiting {
		if requests > most || requests == most && (n.account+"/"+n.table) < (next.account+"/"+next.table) {
			next, most = n, requests
		}
		if c.waiting[n] = decay(requests); full {
			c.waiting[n] /= 2 // the counts of tables with few requests become 0, and these tables are deleted
		}
		if c.waiting[n] == 0 {
			delete(c.waiting, n)
		}
	}
	if most = decay(most); most == 0 {
		return
	}
	least := 0
	for i, t := range c.tables {
		if t.requests < c.tables[least].requests {
			least = i
		}
	}
	if most <= c.tables[least].requests {
		return
	}
	known := c.knownWithout(c.tables[least])
	c.tables[least] = newCounted(next, c.hours.spelledName(next), c.now)
	c.tables[least].requests = most
	delete(c.waiting, next)
	c.known.Store(&known)
}

// decay returns what is left of a count of requests after one more minute.
func decay(requests uint64) uint64 { return requests - min(requests, requests/fading+1) }

package traffic

import (
	"strings"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

const (
	busiest    = 16   // number of tables that are counted in detail
	aliases    = 256  // number of spellings of the names of these tables that are found without a lock
	exactReads = 1000 // between two Ticks, this many reads by key are counted one by one
	sampling   = 8    // of the further reads, one in this many is counted, with this weight

	waiting = 256  // number of other tables whose requests are counted, but not in detail
	fading  = 1024 // each minute, a count of requests decays by one part in this many
)

// Counter counts the requests to all tables. It is safe for concurrent use.
type Counter struct {
	known atomic.Pointer[map[string][]spelled] // keyed by the table's name as spelled in requests
	hours hours

	mu      sync.Mutex // guards the fields below, and writes to known
	tables  []*counted
	waiting map[name]uint64
	now     edm.Ticks
}

type name struct{ account, table string }

// spelled is a table of an account, listed under one spelling of its name.
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

// find returns the table of a visit and remembers how the visit spells its name. It returns nil if the table is not
// counted in detail.
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

// learn lists a table under one more spelling.
func (c *Counter) addSpelling(written string, t *counted) {
	known := c.knownWithout(nil)
	if len(known) >= aliases {
		clear(known)
	}
	known[written] = append(known[written], spelled{t.account, t})
	c.known.Store(&known)
}

// knownBut returns a copy of known without the spellings of the table gone.
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

// Tick advances all tables to now. The owner calls it once after New, and then about every second.
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

// replace starts to count another table in detail if it had more requests than one of the tables that are counted in
// detail, and stops counting that table. Requests from a day ago weigh less than a third. So a table that is idle at
// night is not replaced by a table that is busy for a minute.
func (c *Counter) replace() {
	var next name
	most, full := uint64(0), len(c.waiting) == waiting
	for n, requests := range c.waiting {
		if requests > most || requests == most && (n.account+"/"+n.table) < (next.account+"/"+next.table) {
			next, most = n, requests
		}
		if c.waiting[n] = decay(requests); full {
			c.waiting[n] /= 2 // tables with few requests reach 0 and are deleted
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

// fade returns a count of requests after one more minute of decay.
func decay(requests uint64) uint64 { return requests - min(requests, requests/fading+1) }

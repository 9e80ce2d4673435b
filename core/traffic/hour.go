package traffic

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/core/edm"
)

// minutesKept is the number of minutes in an Hour.
const minutesKept = 60

// mostHours is the maximum number of tables with an Hour. All of them take 7 MiB.
const mostHours = 10_000

// Hour holds how many entities of a table were read or written by key, or scanned for queries, in each of the last 60
// minutes, oldest first. The last minute is the current one. Every request to every table is counted.
type Hour struct {
	Table   string              `json:"table"` // as the first request spelled it
	Since   time.Time           `json:"since"` // requests before this time were not counted
	Until   time.Time           `json:"until"`
	Minutes [minutesKept]uint64 `json:"minutes"`
}

// hours holds, for every table with a request in the last hour, the counts of each minute.
type hours struct {
	mu     sync.RWMutex // guards the fields below, except the counts in tables
	tables map[string]*hourly
	now    edm.Ticks
	// since is the time from which the requests to all tables have been counted. A table that is not in tables had no
	// request after this time.
	since edm.Ticks
}

// hourly holds the counts of one table. A minute's index is its number modulo 60.
type hourly struct {
	account, table string
	since          edm.Ticks
	counts         [minutesKept]atomic.Uint64
}

// add counts one request. It waits only while a table is being added or a minute begins.
func (h *hours) add(v *Visit) {
	n := v.Scanned
	if v.Plan == "" {
		n = v.Entities
	}
	if n <= 0 || v.Throttled {
		return
	}
	var buffer [128]byte
	id := appendFolded(buffer[:0], v.Account, v.Table)
	h.mu.RLock()
	t := h.tables[string(id)]
	if t != nil {
		t.counts[h.slot(0)].Add(uint64(n))
	}
	h.mu.RUnlock()
	if t == nil {
		h.begin(string(id), v, uint64(n))
	}
}

// begin counts the first request to a table. If there is no room for the table, it sets h.since to now.
func (h *hours) begin(id string, v *Visit, n uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tables[id]
	switch {
	case t == nil && len(h.tables) >= mostHours:
		h.since = h.now
		return
	case t == nil:
		t = &hourly{account: strings.Clone(v.Account), table: strings.Clone(v.Table), since: h.since}
		h.tables[id] = t
	}
	t.counts[h.slot(0)].Add(n)
}

// slot returns the index of the minute that was ago minutes before the current one.
func (h *hours) slot(ago int) int {
	return (int(h.now/minute)%minutesKept + minutesKept - ago) % minutesKept
}

// tick advances the counts to now, and forgets tables without a request in the last hour. If the clock was set back,
// the last minute remains the current one.
func (h *hours) tick(now edm.Ticks) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == 0 {
		h.now, h.since = now, now
	}
	passed := min(now/minute-h.now/minute, minutesKept)
	h.now = max(h.now, now)
	if passed <= 0 {
		return
	}
	for id, t := range h.tables {
		for ago := range int(passed) {
			t.counts[h.slot(ago)].Store(0)
		}
		if t.empty() {
			delete(h.tables, id)
		}
	}
}

func (t *hourly) empty() bool {
	for i := range t.counts {
		if t.counts[i].Load() > 0 {
			return false
		}
	}
	return true
}

// Hours holds the last hour of all tables of an account.
type Hours struct {
	Tables []Hour `json:"tables"` // tables with requests, sorted by name
	Others Hour   `json:"others"` // the hour of every table that is not in Tables
}

// Hours returns the last hour of the tables of an account.
func (c *Counter) Hours(account string) Hours {
	h := &c.hours
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := Hours{Tables: []Hour{}, Others: h.copyOf(&hourly{since: h.since})}
	for _, t := range h.tables {
		if t.account == account {
			all.Tables = append(all.Tables, h.copyOf(t))
		}
	}
	slices.SortFunc(all.Tables, func(a, b Hour) int { return strings.Compare(a.Table, b.Table) })
	return all
}

// Hour returns the last hour of one table.
func (c *Counter) Hour(account, table string) Hour {
	h := &c.hours
	h.mu.RLock()
	defer h.mu.RUnlock()
	t := h.tables[string(appendFolded(nil, account, table))]
	if t == nil {
		t = &hourly{table: table, since: h.since}
	}
	return h.copyOf(t)
}

// written returns the name of a table as its first request in the last hour spelled it.
func (h *hours) spelledName(n name) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if t := h.tables[n.account+"/"+n.table]; t != nil {
		return t.table
	}
	return n.table
}

// copyOf returns an Hour with the counts of a table.
func (h *hours) copyOf(t *hourly) Hour {
	told := Hour{Table: t.table, Since: t.since.Time(), Until: h.now.Time()}
	for i := range told.Minutes {
		told.Minutes[i] = t.counts[h.slot(minutesKept-1-i)].Load()
	}
	return told
}

// appendFolded appends the key of a table of an account. Names of tables ignore case.
func appendFolded(dst []byte, account, table string) []byte {
	dst = append(append(dst, account...), '/')
	for i := range len(table) {
		c := table[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

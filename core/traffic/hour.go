package traffic

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/core/edm"
)

const minutesKept = 60

// mostHours is the maximum number of tables with counts for the last hour. The counts of this many tables need 7 MiB.
const mostHours = 10_000

// Hour holds the counts of one table for each of the last 60 minutes, the current one last: the number of entities that
// were read or written by key, or scanned for queries.
type Hour struct {
	Table   string              `json:"table"` // name of the table, as spelled in the first request
	Since   time.Time           `json:"since"` // start of counting; earlier requests are not in Minutes
	Until   time.Time           `json:"until"`
	Minutes [minutesKept]uint64 `json:"minutes"`
}

// hours holds, for every table with a request in the last hour, the counts of each minute.
type hours struct {
	mu     sync.RWMutex // guards the fields below, except hourly.counts
	tables map[string]*hourly
	now    edm.Ticks
	// completeSince is the time after which the requests to all tables were counted. A table that is not in the map had
	// no later request within the last hour.
	completeSince edm.Ticks
}

// hourly holds the counts of one table. The index of a minute in counts is the number of the minute modulo 60.
type hourly struct {
	account, table string
	since          edm.Ticks
	counts         [minutesKept]atomic.Uint64
}

// add counts one request. It waits only while another goroutine adds a table or starts a new minute.
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
		h.addTable(string(id), v, uint64(n))
	}
}

// addTable adds a table to h.tables and counts its first request. If the map is full, the request is not counted, and
// h.completeSince becomes the current time.
func (h *hours) addTable(id string, v *Visit, n uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tables[id]
	switch {
	case t == nil && len(h.tables) >= mostHours:
		h.completeSince = h.now
		return
	case t == nil:
		t = &hourly{account: strings.Clone(v.Account), table: strings.Clone(v.Table), since: h.completeSince}
		h.tables[id] = t
	}
	t.counts[h.slot(0)].Add(n)
}

// slot returns the index of a minute in hourly.counts. The minute is given by its distance from the current minute.
func (h *hours) slot(ago int) int {
	return (int(h.now/minute)%minutesKept + minutesKept - ago) % minutesKept
}

// tick advances the counts to now, and deletes tables without a request in the last hour. If the clock was set back,
// the last minute remains the current one.
func (h *hours) tick(now edm.Ticks) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == 0 {
		h.now, h.completeSince = now, now
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

// Hours holds the counts of the last hour for each table of an account.
type Hours struct {
	Tables []Hour `json:"tables"` // the tables with requests, sorted by name
	Others Hour   `json:"others"` // zero counts, which are valid for each table that is not in Tables
}

// Hours returns the counts of the last hour for all tables of an account.
func (c *Counter) Hours(account string) Hours {
	h := &c.hours
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := Hours{Tables: []Hour{}, Others: h.copyOf(&hourly{since: h.completeSince})}
	for _, t := range h.tables {
		if t.account == account {
			all.Tables = append(all.Tables, h.copyOf(t))
		}
	}
	slices.SortFunc(all.Tables, func(a, b Hour) int { return strings.Compare(a.Table, b.Table) })
	return all
}

// Hour returns the counts of the last hour for one table.
func (c *Counter) Hour(account, table string) Hour {
	h := &c.hours
	h.mu.RLock()
	defer h.mu.RUnlock()
	t := h.tables[string(appendFolded(nil, account, table))]
	if t == nil {
		t = &hourly{table: table, since: h.completeSince}
	}
	return h.copyOf(t)
}

// spelledName returns a table's name as spelled in the first request of the last hour.
func (h *hours) spelledName(n name) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if t := h.tables[n.account+"/"+n.table]; t != nil {
		return t.table
	}
	return n.table
}

// copyOf returns the counts of a table, with the oldest minute first.
func (h *hours) copyOf(t *hourly) Hour {
	told := Hour{Table: t.table, Since: t.since.Time(), Until: h.now.Time()}
	for i := range told.Minutes {
		told.Minutes[i] = t.counts[h.slot(minutesKept-1-i)].Load()
	}
	return told
}

// appendFolded appends the key of a table in hours.tables: the account, and the name of the table in lower case.
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

package traffic

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"edgetable/core/edm"
)

// sumOf returns the number of entities that were counted in the last hour.
func sumOf(h Hour) (sum uint64) {
	for _, n := range h.Minutes {
		sum += n
	}
	return sum
}

// TestHourOfEveryTable checks tables beyond the 16 busiest ones. They must have exact counts, even for concurrent
// requests, and names as spelled in requests.
func TestHourOfEveryTable(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	c := at(now)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 20 {
				for range 300 {
					c.Add(get(fmt.Sprintf("Many%02d", i), "p"))
				}
			}
		})
	}
	wg.Wait()
	c.Add(&Visit{Account: "a", Table: "MANY19", Plan: "Table", Scanned: 7})
	c.Add(&Visit{Account: "a", Table: "Many19", Throttled: true, Entities: 1})
	c.Add(&Visit{Account: "b", Table: "Many19", Write: true, Entities: 3})
	all := c.Hours("a")
	if len(all.Tables) != 20 || all.Tables[19].Table != "Many19" {
		t.Fatalf("%d tables have an hour", len(all.Tables))
	}
	for i, h := range all.Tables {
		want := uint64(1200)
		if i == 19 {
			want += 7
		}
		if sumOf(h) != want || h.Minutes[minutesKept-1] != want {
			t.Errorf("%s: %d entities, want %d", h.Table, sumOf(h), want)
		}
	}
	if h := c.Hour("b", "many19"); sumOf(h) != 3 || h.Table != "Many19" {
		t.Errorf("the table of the other account: %+v", h)
	}
	if h := c.Hour("a", "Quiet"); sumOf(h) != 0 || !h.Since.Equal(now.Time()) {
		t.Errorf("a table without requests: %+v", h)
	}
	// When Many18 gets detailed counts, its name must be spelled as in the requests.
	for range 10_000 {
		c.Add(get("Many18", "p"))
	}
	c.Tick(now + minute)
	saved := c.Save()
	if !slices.ContainsFunc(saved.Tables, func(s SavedTable) bool { return s.Table == "Many18" }) {
		t.Error("Many18 is not counted under its name")
	}
}

// TestHourPasses checks that counts move to earlier minutes as time passes, and disappear after an hour.
func TestHourPasses(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	c := at(now)
	c.Add(get("T", "p"))
	c.Tick(now + 2*minute)
	c.Add(get("T", "p"))
	c.Add(get("T", "p"))
	c.Tick(now + minute) // sets the clock back
	c.Add(get("T", "p"))
	if h := c.Hour("a", "T"); h.Minutes[minutesKept-3] != 1 || h.Minutes[minutesKept-1] != 3 {
		t.Errorf("minutes are %v", h.Minutes)
	}
	c.Tick(now + 61*minute)
	if h := c.Hour("a", "T"); sumOf(h) != 3 || h.Minutes[0] != 3 {
		t.Errorf("an hour later they are %v", h.Minutes)
	}
	c.Tick(now + 62*minute)
	if n := len(c.Hours("a").Tables); n != 0 {
		t.Errorf("%d tables are left", n)
	}
}

// TestHoursAreBounded fills the Counter with the maximum number of tables that have counts for the last hour. A request
// to one more table is not counted. The field Since in the counts of this table is the start of counting. Since must
// then be the time of the uncounted request.
func TestHoursAreBounded(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	c := at(now)
	for i := range mostHours {
		c.Add(get(fmt.Sprintf("t%d", i), "p"))
	}
	c.Tick(now + 30*minute)
	c.Add(get("OneMore", "p"))
	if h := c.Hour("a", "OneMore"); !h.Since.Equal((now + 30*minute).Time()) {
		t.Errorf("a table without room is known since %v", h.Since)
	}
	if h := c.Hour("a", "t7"); sumOf(h) != 1 || h.Until.Sub(h.Since) != 30*time.Minute {
		t.Errorf("a table with room: %+v", h)
	}
	c.Tick(now + 60*minute)
	c.Add(get("OneMore", "p"))
	if h := c.Hour("a", "OneMore"); sumOf(h) != 1 || !h.Since.Equal((now + 30*minute).Time()) {
		t.Errorf("with room it is counted: %+v", h)
	}
}

package follow

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/testdata/must"
	"edgetable/testdata/requests"
)

// hour estimates how many requests the backup location gets in an hour. It calls a function once for each of 240
// seconds, counts the requests, and multiplies the counts by 15.
func hour(place *requests.Place, turn func()) requests.Counts {
	const part = 15 // in 240 seconds there are exactly 4 minutes, and exactly 8 cycles of 30 checks with one full check each
	place.Reset()
	for range 3600 / part {
		turn()
	}
	return place.Reset().Times(part)
}

// TestRequests checks that docs/secondaries.md states the number of requests that a secondary sends
// in an hour. If the primary is idle, each check of the backup location must list only one page of
// objects, even if the log is long.
func TestRequests(t *testing.T) {
	t.Parallel()
	place := new(requests.Place)
	l := newLine(t, place)
	began := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	l.to = edm.TicksOf(began)
	l.at.Number = l.to
	must.OK(t, l.store.Replay(t.Context(), l.at, nil))
	l.step = edm.TicksPerSecond
	for range 1200 { // more pieces of the log than one page of a list has, in several minutes and hours
		l.ship()
	}
	must.OK(t, l.applyShipped(t.Context()))
	l.backUp(l.to)
	for range 2 * lookAtAll {
		must.OK(t, l.applyShipped(t.Context()))
	}

	idle := hour(place, func() { must.OK(t, l.applyShipped(t.Context())) })
	busy := hour(place, func() {
		before := place.Counts
		l.ship()
		place.Counts = before // do not count the requests of the primary, because only those of the secondary are measured
		must.OK(t, l.applyShipped(t.Context()))
	})
	b, err := os.ReadFile("../../../docs/secondaries.md")
	must.OK(t, err)
	for _, row := range []string{
		fmt.Sprintf("| a secondary, busy | %s |", busy),
		fmt.Sprintf("| a secondary, idle | %s |", idle),
	} {
		if !strings.Contains(string(b), row) {
			t.Errorf("docs/secondaries.md has no row %q", row)
		}
	}
}

package secondary

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

// hour runs a part of an hour, one turn a second, and returns the requests of an hour.
func hour(place *requests.Place, turn func()) requests.Counts {
	const part = 15 // of which minutes and looks at everything are whole
	place.Reset()
	for range 3600 / part {
		turn()
	}
	return place.Reset().Times(part)
}

// TestRequests: docs/secondaries.md says how many requests an hour a secondary sends. An idle one
// lists a page at a time, also with a long log.
func TestRequests(t *testing.T) {
	t.Parallel()
	place := new(requests.Place)
	l := newLine(t, place)
	began := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	l.to = edm.TicksOf(began)
	l.at.Number = l.to
	must.OK(t, l.store.Replay(t.Context(), l.at, nil))
	l.step = edm.TicksPerSecond
	for range 1200 { // more than a page, in minutes and hours before
		l.ship()
	}
	must.OK(t, l.turn(t.Context()))
	l.backUp(l.to)
	for range 2 * lookAtAll {
		must.OK(t, l.turn(t.Context()))
	}

	idle := hour(place, func() { must.OK(t, l.turn(t.Context())) })
	busy := hour(place, func() {
		before := place.Counts
		l.ship()
		place.Counts = before // that was the primary
		must.OK(t, l.turn(t.Context()))
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

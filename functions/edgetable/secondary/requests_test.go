package secondary

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/objects/directory"
	"edgetable/core/edm"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

// counting is a place that counts requests.
type counting struct {
	directory.Place
	lists, gets, puts int
}

func (c *counting) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return c.ListAfter(ctx, prefix, "")
}

func (c *counting) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		n := 0
		for o, err := range c.Place.ListAfter(ctx, prefix, after) {
			if n%1000 == 0 { // a page of a bucket
				c.lists++
			}
			n++
			if !yield(o, err) {
				return
			}
		}
		if n == 0 {
			c.lists++
		}
	}
}

func (c *counting) Get(ctx context.Context, name string) ([]byte, error) {
	c.gets++
	return c.Place.Get(ctx, name)
}

func (c *counting) Put(ctx context.Context, name string, b []byte) error {
	c.puts++
	return c.Place.Put(ctx, name, b)
}

// hour runs a part of an hour, one turn a second, and returns the requests of an hour.
func (c *counting) hour(turn func()) string {
	const part = 15 // of which minutes and looks at everything are whole
	c.lists, c.gets, c.puts = 0, 0, 0
	for range 3600 / part {
		turn()
	}
	var text []string
	for _, n := range []struct {
		what string
		n    int
	}{{"LIST", c.lists}, {"PUT", c.puts}, {"GET", c.gets}} {
		if n.n > 0 {
			text = append(text, fmt.Sprintf("%s %s", thousands(part*n.n), n.what))
		}
	}
	if text == nil {
		return "none"
	}
	return strings.Join(text, ", ")
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// TestRequests: docs/secondaries.md says how many requests an hour a primary and a secondary send. An idle secondary
// lists a page at a time, also with a long log.
func TestRequests(t *testing.T) {
	t.Parallel()
	place := &counting{Place: directory.Place{Dir: t.TempDir()}}
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

	idle := place.hour(func() { must.OK(t, l.turn(t.Context())) })
	primary := place.hour(l.ship)
	must.OK(t, l.turn(t.Context()))
	busy := place.hour(func() {
		before := *place
		l.ship()
		*place = before // that was the primary
		must.OK(t, l.turn(t.Context()))
	})
	b, err := os.ReadFile("../../../docs/secondaries.md")
	must.OK(t, err)
	for _, row := range []string{
		fmt.Sprintf("| a primary, busy | %s |", primary),
		fmt.Sprintf("| a secondary, busy | %s |", busy),
		fmt.Sprintf("| a secondary, idle | %s |", idle),
	} {
		if !strings.Contains(string(b), row) {
			t.Errorf("docs/secondaries.md has no row %q", row)
		}
	}
}

package machine

import "testing"

// TestThreads checks that a quota below one processor gives one thread, and that a quota above the machine's
// processors gives all of them.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		quota      float64
		processors int
		want       int
	}{{0.1, 8, 1}, {0.5, 8, 1}, {1, 8, 1}, {1.5, 8, 2}, {16, 8, 8}, {0.5, 1, 1}} {
		if got := threads(c.quota, c.processors); got != c.want {
			t.Errorf("%v of %d processors: %d threads, want %d", c.quota, c.processors, got, c.want)
		}
	}
}

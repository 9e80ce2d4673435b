package machine

import "testing"

// A part of a processor is one thread, and a quota above the processors of the machine is all of them.
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

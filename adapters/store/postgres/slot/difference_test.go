package slot

import (
	"testing"
	"time"
)

// TestDifference checks that the time for which a statement waits does not count as a difference
// of the clocks.
func TestDifference(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	sent := time.UnixMicro(1_000_000_000)
	for _, tt := range []struct{ reading, took, want time.Duration }{
		{0, 0, 0},
		{1 * ms, 2 * ms, 0},
		{1794 * ms, 1800 * ms, 0}, // the statement waited for a lock
		{-3000 * ms, 1800 * ms, -3000 * ms},
		{3000 * ms, 1800 * ms, 1200 * ms},
		{3000 * ms, 0, 3000 * ms},
		{10 * ms, -5000 * ms, 10 * ms}, // the clock was set back before the reply
		{-10_001 * ms, 11_000 * ms, -10_001 * ms},
	} {
		if got := Difference(sent.Add(tt.reading), sent, tt.took); got != tt.want {
			t.Errorf("a reading of %v in a round trip of %v shows %v, want %v", tt.reading, tt.took, got, tt.want)
		}
	}
}

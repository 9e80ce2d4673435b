package sample

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// TestLoadThatComes checks that a busy range splits only at a key that will also divide future requests. A
// split costs two rows for each entity that moves. So the range must not split at a key that only divided past
// requests.
func TestLoadThatComes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const rate = 350
	for _, tt := range []struct {
		what    string
		minutes int
		key     func(n int) string // the key of the nth request
		splits  bool
	}{
		{"a log", 120, func(n int) string { return fmt.Sprintf("%012d", n) }, false},
		{"a log of partitions of 5 minutes", 120, func(n int) string { return fmt.Sprintf("%012d", n/(rate*300)) }, false},
		{"a log with some reads of its end", 120, func(n int) string { return fmt.Sprintf("%012d", n-r.IntN(rate)) }, false},
		{"one partition", 30, func(int) string { return "p" }, false},
		{"any of a hundred partitions", 3, func(int) string { return fmt.Sprintf("%03d", r.IntN(100)) }, true},
		{"two partitions", 3, func(n int) string { return fmt.Sprint(n % 2) }, true},
		{"logs of ten devices", 3, func(n int) string { return fmt.Sprintf("%d-%012d", n%10, n) }, true},
		{"a queue of ten minutes, from its front and its end", 3, func(n int) string { return fmt.Sprintf("%012d", n+(n%2)*rate*600) }, true},
	} {
		var l Load
		split, n := 0, 0
		now := edm.Ticks(3600 * edm.TicksPerSecond)
		for range tt.minutes * 60 * rate {
			now += edm.TicksPerSecond / rate
			if busy, at := l.Visited(now, key.Append(nil, tt.key(n), "r"), 300, r.Uint64); busy && at != nil {
				split++
			}
			n++
		}
		if split > 0 != tt.splits {
			t.Errorf("%s: %d times", tt.what, split)
		}
	}
}

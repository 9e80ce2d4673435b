package answers

import "edgetable/core/edm"

// Room limits the total size of the answers that a process remembers. The answers to 2,000 writes per second for a
// minute fit, and one process cannot serve more writes.
type Room struct {
	// Short is called when answers had to be forgotten in less than a minute. It may be nil.
	Short func()

	used int
	all  []*Memory
	said edm.Ticks
}

const (
	mostBytes = 4 << 20
	sayEvery  = 60 * edm.TicksPerSecond
)

// reserve counts n bytes that a Memory allocates. If the total exceeds the limit, it makes the Memories forget their
// oldest answers.
func (r *Room) reserve(m *Memory, now edm.Ticks, n int) {
	if len(m.ages) == 1 && m.ages[0].size == n {
		r.join(m)
	}
	r.used += n
	for r.used > mostBytes {
		var oldest *Memory
		for _, o := range r.all {
			if len(o.ages) > 0 && (oldest == nil || o.ages[0].end < oldest.ages[0].end) {
				oldest = o
			}
		}
		if oldest == nil {
			return
		}
		if now-oldest.ages[0].end <= minKept && r.Short != nil && (now-r.said >= sayEvery || now < r.said) {
			r.said = now
			r.Short()
		}
		oldest.forgetOldest()
	}
}

func (r *Room) join(m *Memory) {
	for _, o := range r.all {
		if o == m {
			return
		}
	}
	r.all = append(r.all, m)
}

package answers

import "edgetable/core/edm"

// Room bounds the answers that memories of one process keep together. A memory of all writes of
// a minute is what they promise, so the bound is above that of any load that one process serves:
// 2,000 writes a second.
type Room struct {
	// Short is called when answers had to be forgotten before their time; nil: nobody is told.
	Short func()

	used int
	all  []*Memory
	said edm.Ticks
}

const (
	mostBytes = 4 << 20
	sayEvery  = 60 * edm.TicksPerSecond
)

// take counts bytes of a memory. If there is no room, the oldest answers of all are forgotten.
func (r *Room) take(m *Memory, now edm.Ticks, n int) {
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
		if now-oldest.ages[0].end <= keep && r.Short != nil && (now-r.said >= sayEvery || now < r.said) {
			r.said = now
			r.Short()
		}
		oldest.forgetOldest()
	}
}

// join adds a memory to those that are counted.
func (r *Room) join(m *Memory) {
	for _, o := range r.all {
		if o == m {
			return
		}
	}
	r.all = append(r.all, m)
}

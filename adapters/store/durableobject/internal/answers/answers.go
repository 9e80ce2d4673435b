// Package answers remembers the answers of an object to writes, so that the object can answer a repeated write.
package answers

import (
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

const (
	// minKept is the minimum time for which an answer is remembered. The maximum time is an eighth longer.
	minKept = 60 * edm.TicksPerSecond
	// margin covers the travel time of a message and the difference between two clocks.
	margin = edm.TicksPerSecond
)

// Memory remembers the answer to each write, by the id of the write.
type Memory struct {
	Engine  uint64    // a random number that identifies the engine
	WokenAt edm.Ticks // when the engine started; earlier answers are not remembered
	Room    *Room     // the limit of the memory for answers, shared by all objects of the process
	Life    byte      // a number that the object increments when its table is dropped or restored
	forgot  edm.Ticks // answers up to this time were forgotten; 0 if no answers were forgotten
	ages    []*age    // the groups of answers, oldest first
}

// Verdict says whether a write was applied, as far as the Memory knows.
type Verdict uint8

const (
	Fresh    Verdict = iota // the write was not applied
	Answered                // the answer to the write is remembered
	Lost                    // the outcome of the write is unknown
)

// Classify reports whether a write was applied, and returns its answer if Memory remembers it.
//
// A repeated write without a remembered answer was not applied if no answer was forgotten since the first attempt. The
// message contains the time of that attempt as an age and by the sender's clock; the earlier time counts.
//
// A first attempt may arrive late, when the answers to other attempts of the same write are already forgotten. So
// Classify also compares the attempt's time by the sender's clock.
func (m *Memory) Classify(now edm.Ticks, a message.Attempt) (Verdict, []byte) {
	m.expire(now)
	switch answer, ok := m.find(a.ID); {
	case !ok || len(answer) == 1 && answer[0] == m.Life:
	case len(answer) == 1:
		return Lost, nil // the write was sent to another range, which may have applied it in an earlier incarnation of the table
	default:
		return Answered, answer
	}
	complete := max(m.WokenAt, m.forgot)
	again := a.Again && (now-complete <= a.Age+margin || a.First <= complete+margin)
	if again || m.forgot > 0 && a.First <= m.forgot+margin {
		return Lost, nil
	}
	return Fresh, nil
}

func (m *Memory) find(id uint64) (answer []byte, ok bool) {
	for _, g := range slices.Backward(m.ages) {
		if answer, ok := g.find(id); ok {
			return answer, true
		}
	}
	return nil, false
}

// Remember stores the answer to a write.
func (m *Memory) Remember(now edm.Ticks, id uint64, answer []byte) {
	if _, known := m.find(id); known {
		return
	}
	last := len(m.ages) - 1
	if last < 0 || now-m.ages[last].begin >= minKept/8 || now < m.ages[last].begin {
		m.ages = append(m.ages, &age{begin: now})
		last++
	}
	g := m.ages[last]
	before := g.size
	g.put(id, answer)
	g.end = max(g.end, now)
	m.Room.reserve(m, now, g.size-before)
	m.expire(now)
}

// Misdirected remembers a write whose key another range has. This object must not apply the write later, in another
// incarnation of the table.
func (m *Memory) Misdirected(now edm.Ticks, id uint64) { m.Remember(now, id, []byte{m.Life}) }

func (m *Memory) expire(now edm.Ticks) {
	for len(m.ages) > 0 && now-m.ages[0].end > minKept {
		m.forgetOldest()
	}
}

func (m *Memory) forgetOldest() {
	m.forgot = max(m.forgot, m.ages[0].end)
	m.Room.used -= m.ages[0].size
	m.ages = slices.Delete(m.ages, 0, 1)
}

// Free frees all answers of this Memory. The caller must not use the Memory afterwards.
func (m *Memory) Free() {
	for len(m.ages) > 0 {
		m.forgetOldest()
	}
	m.Room.all = slices.DeleteFunc(m.Room.all, func(o *Memory) bool { return o == m })
}

// Package answers remembers the answers that an object gave to writes, so that it can tell
// what became of one that is sent again.
package answers

import (
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

const (
	// keep is the time for which an answer is remembered, and up to an eighth longer.
	keep = 60 * edm.TicksPerSecond
	// margin is the time a message may travel, and by which clocks may differ.
	margin = edm.TicksPerSecond
)

// Memory remembers the answer to each write, by its id.
type Memory struct {
	Engine uint64    // random, tells engines apart
	Woke   edm.Ticks // no earlier answer is remembered
	Room   *Room     // for the answers
	Life   byte      // another one for each table of the object
	forgot edm.Ticks // nor one until then; 0: none was forgotten
	ages   []*age    // oldest first
}

// Verdict is the state of a write.
type Verdict uint8

// The states of a write.
const (
	Fresh    Verdict = iota // it was not carried out
	Answered                // its answer is remembered
	Lost                    // its outcome is unknown
)

// Judge returns the state of a write. A repeated write that is not remembered was
// not carried out if no answer was forgotten since before it was first sent: by its
// age, and, because a message may travel for longer than margin, also by the sender's
// clock. A first attempt too may arrive after later ones whose answers were forgotten;
// but not after a restart, which ends all messages that wait for the object.
func (m *Memory) Judge(now edm.Ticks, a message.Attempt) (Verdict, []byte) {
	m.expire(now)
	switch answer, ok := m.find(a.ID); {
	case !ok || len(answer) == 1 && answer[0] == m.Life:
	case len(answer) == 1:
		return Lost, nil // another range may have answered it in a life in which this object did not have its key
	default:
		return Answered, answer
	}
	complete := max(m.Woke, m.forgot)
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

// Remember keeps an answer.
func (m *Memory) Remember(now edm.Ticks, id uint64, answer []byte) {
	if _, known := m.find(id); known {
		return
	}
	last := len(m.ages) - 1
	if last < 0 || now-m.ages[last].begin >= keep/8 || now < m.ages[last].begin {
		m.ages = append(m.ages, &age{begin: now})
		last++
	}
	g := m.ages[last]
	before := g.size
	g.put(id, answer)
	g.end = max(g.end, now)
	m.Room.take(m, now, g.size-before)
	m.expire(now)
}

// Misdirected remembers that another range has the key of a write, for the case that the table ends:
// in the next one, this object may have the key.
func (m *Memory) Misdirected(now edm.Ticks, id uint64) { m.Remember(now, id, []byte{m.Life}) }

// expire forgets what is older than keep.
func (m *Memory) expire(now edm.Ticks) {
	for len(m.ages) > 0 && now-m.ages[0].end > keep {
		m.forgetOldest()
	}
}

func (m *Memory) forgetOldest() {
	m.forgot = max(m.forgot, m.ages[0].end)
	m.Room.used -= m.ages[0].size
	m.ages = slices.Delete(m.ages, 0, 1)
}

// Leave gives the room of a memory back that nobody asks any more.
func (m *Memory) Leave() {
	for len(m.ages) > 0 {
		m.forgetOldest()
	}
	m.Room.all = slices.DeleteFunc(m.Room.all, func(o *Memory) bool { return o == m })
}

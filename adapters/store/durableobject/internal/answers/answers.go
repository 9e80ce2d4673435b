// Package answers remembers the answers that an object gave to writes, so that it can tell
// what became of one that is sent again.
package answers

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

const (
	// keep is the time for which an answer is remembered.
	keep = 60 * edm.TicksPerSecond
	// margin is the time a message may travel, and by which clocks may differ.
	margin = edm.TicksPerSecond

	maxAnswers     = 8192
	maxAnswerBytes = 1 << 20
)

// Memory remembers the answer to each write, by its id.
type Memory struct {
	Engine uint64    // random, tells engines apart
	Woke   edm.Ticks // no earlier answer is remembered
	forgot edm.Ticks // nor one until then; 0: none was forgotten
	byID   map[uint64][]byte
	order  []written // oldest first; those before first were forgotten
	first  int
	bytes  int
}

type written struct {
	id uint64
	at edm.Ticks
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
	if answer, ok := m.byID[a.ID]; ok {
		return Answered, answer
	}
	complete := max(m.Woke, m.forgot)
	again := a.Again && (now-complete <= a.Age+margin || a.First <= complete+margin)
	if again || m.forgot > 0 && a.First <= m.forgot+margin {
		return Lost, nil
	}
	return Fresh, nil
}

// Remember keeps an answer.
func (m *Memory) Remember(now edm.Ticks, id uint64, answer []byte) {
	if m.byID == nil {
		m.byID = make(map[uint64][]byte)
	}
	if _, known := m.byID[id]; known {
		return
	}
	m.byID[id] = append([]byte(nil), answer...)
	m.order = append(m.order, written{id, now})
	m.bytes += len(answer)
	m.expire(now)
}

func (m *Memory) expire(now edm.Ticks) {
	for m.first < len(m.order) {
		w := m.order[m.first]
		if now-w.at <= keep && len(m.byID) <= maxAnswers && m.bytes <= maxAnswerBytes {
			break
		}
		m.forgot = max(m.forgot, w.at)
		m.bytes -= len(m.byID[w.id])
		delete(m.byID, w.id)
		m.first++
	}
	if m.first > 64 && m.first > len(m.order)/2 {
		m.order = m.order[:copy(m.order, m.order[m.first:])]
		m.first = 0
	}
}

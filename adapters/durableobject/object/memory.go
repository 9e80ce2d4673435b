package object

import (
	"edgetable/adapters/durableobject/internal/message"
	"edgetable/core/edm"
)

const (
	// keep is for how long an answer is remembered.
	keep = 60 * edm.TicksPerSecond
	// margin is what a message may take on its way, and clocks may differ.
	margin = edm.TicksPerSecond

	maxAnswers     = 8192
	maxAnswerBytes = 1 << 20
)

// memory is what the object answered to which write.
type memory struct {
	// complete: all answers since then are remembered.
	complete edm.Ticks
	answers  map[uint64][]byte
	order    []written // from the oldest; those before first were forgotten
	first    int
	bytes    int
}

type written struct {
	id uint64
	at edm.Ticks
}

// verdict is what is known about a write.
type verdict uint8

const (
	fresh    verdict = iota // it was not carried out
	answered                // here is its answer
	lost                    // nobody knows
)

// judge says what is known about a write. One that comes again and is not
// remembered was not carried out if nothing was forgotten since before it was
// sent first: by the age it had, and, because a message may wait on its way for
// longer than margin, also by the sender's clock.
func (m *memory) judge(now edm.Ticks, a message.Attempt) (verdict, []byte) {
	m.expire(now)
	if answer, ok := m.answers[a.ID]; ok {
		return answered, answer
	}
	if a.Again && (now-m.complete <= a.Age+margin || a.First <= m.complete+margin) {
		return lost, nil
	}
	return fresh, nil
}

// remember keeps an answer.
func (m *memory) remember(now edm.Ticks, id uint64, answer []byte) {
	if m.answers == nil {
		m.answers = make(map[uint64][]byte)
	}
	if _, known := m.answers[id]; known {
		return
	}
	m.answers[id] = append([]byte(nil), answer...)
	m.order = append(m.order, written{id, now})
	m.bytes += len(answer)
	m.expire(now)
}

func (m *memory) expire(now edm.Ticks) {
	for m.first < len(m.order) {
		w := m.order[m.first]
		if now-w.at <= keep && len(m.answers) <= maxAnswers && m.bytes <= maxAnswerBytes {
			break
		}
		m.complete = max(m.complete, w.at)
		m.bytes -= len(m.answers[w.id])
		delete(m.answers, w.id)
		m.first++
	}
	if m.first > 64 && m.first > len(m.order)/2 {
		m.order = m.order[:copy(m.order, m.order[m.first:])]
		m.first = 0
	}
}

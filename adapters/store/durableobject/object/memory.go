package object

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

const (
	// keep is for how long an answer is remembered.
	keep = 60 * edm.TicksPerSecond
	// margin is what a message may take on its way, and clocks may differ.
	margin = edm.TicksPerSecond

	maxAnswers     = 8192
	maxAnswerBytes = 1 << 20

	memoryID = 8 // bytes
)

// memory is what the object answered to which write.
type memory struct {
	id      uint64    // random: no other memory has it
	woke    edm.Ticks // no answer before is remembered
	forgot  edm.Ticks // nor one until then, 0: none was forgotten
	answers map[uint64][]byte
	order   []written // from the oldest; those before first were forgotten
	first   int
	bytes   int
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
// longer than margin, also by the sender's clock. An attempt that is the first
// may come behind others, too, whose answer was forgotten since; not behind a
// restart, as what waits for an object ends with it.
func (m *memory) judge(now edm.Ticks, a message.Attempt) (verdict, []byte) {
	m.expire(now)
	if answer, ok := m.answers[a.ID]; ok {
		return answered, answer
	}
	complete := max(m.woke, m.forgot)
	again := a.Again && (now-complete <= a.Age+margin || a.First <= complete+margin)
	if again || m.forgot > 0 && a.First <= m.forgot+margin {
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
		m.forgot = max(m.forgot, w.at)
		m.bytes -= len(m.answers[w.id])
		delete(m.answers, w.id)
		m.first++
	}
	if m.first > 64 && m.first > len(m.order)/2 {
		m.order = m.order[:copy(m.order, m.order[m.first:])]
		m.first = 0
	}
}

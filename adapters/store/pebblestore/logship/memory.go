package logship

import "edgetable/core/commitlog"

// memory is a buffer for the records of a Reader. It is reused to reduce allocations.
type memory struct {
	steps [][]byte // blocks for new records; the constant step is the size of each block
	used  int
	kept  []byte // records that are still needed when the blocks are reused
	spare []byte
}

// maxUnused limits the unused memory, in bytes, that remains allocated. The limit applies to the blocks and,
// separately, to the spare buffer.
const maxUnused = 8 << 20

func (m *memory) next(size int) []byte {
	if size != step {
		return make([]byte, size)
	}
	if m.used == len(m.steps) {
		m.steps = append(m.steps, make([]byte, step))
	}
	m.used++
	return m.steps[m.used-1]
}

// reuse makes all blocks available again. It first copies the records of the given commits out of the blocks.
func (m *memory) reuse(stay []commitlog.Commit) {
	to := m.spare[:0]
	for i := range stay {
		at := len(to)
		to = append(to, stay[i].Record...)
		stay[i].Record = to[at:len(to):len(to)]
	}
	if m.spare = m.kept; cap(m.spare) > maxUnused {
		m.spare = nil
	}
	m.kept = to
	if m.used = 0; len(m.steps) > maxUnused/step {
		m.steps = m.steps[: maxUnused/step : maxUnused/step]
	}
}

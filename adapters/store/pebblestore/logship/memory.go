package logship

// memory is the memory for the records of a Reader. It is reused, so that a read allocates little.
type memory struct {
	steps [][]byte // blocks for new records; the constant step is the size of each block
	used  int
	kept  []byte // records that are still needed when the blocks are reused
	spare []byte
}

// most is the maximum size in bytes of unused memory that stays allocated. The blocks and the buffer spare each have this limit.
const most = 8 << 20

// next provides memory of the given size for records.
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

// reuse copies the records of the given commits to other memory. The method next can then return the same blocks again.
func (m *memory) reuse(stay []Commit) {
	to := m.spare[:0]
	for i := range stay {
		at := len(to)
		to = append(to, stay[i].Record...)
		stay[i].Record = to[at:len(to):len(to)]
	}
	if m.spare = m.kept; cap(m.spare) > most {
		m.spare = nil
	}
	m.kept = to
	if m.used = 0; len(m.steps) > most/step {
		m.steps = m.steps[: most/step : most/step]
	}
}

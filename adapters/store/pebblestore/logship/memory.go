package logship

// memory holds the records of a reader. It is reused, so reading creates no garbage.
type memory struct {
	steps [][]byte // blocks for new records
	used  int
	kept  []byte // records that must stay while the blocks are reused
	spare []byte
}

// most is how much memory of each kind is kept once a backlog has been read.
const most = 8 << 20

// next returns size bytes of memory.
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

// reuse moves the commits that stay to other memory, so that all memory returned by next can be reused.
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

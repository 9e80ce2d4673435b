package logship

// memory is what the records of a reader are in. It is used again and again, so that
// reading leaves nothing to the garbage collector.
type memory struct {
	steps [][]byte // for what is read
	used  int
	kept  []byte // records that stay while the steps are used again
	spare []byte
}

// most is how much memory of a kind stays when a backlog has been read.
const most = 8 << 20

// next returns memory for some bytes.
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

// reuse moves commits to other memory, and all that next has returned is used again.
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

package pebblestore

import (
	"sync"

	"edgetable/core/table"
)

// memory is what the rows of a page are kept in: blocks that grow with the
// page. A page that is given back leaves its memory to a later one.
type memory struct {
	rows   []table.Row
	blocks [][]byte
	block  int // that is being filled
	filled int // of it
	used   int // bytes in all
}

const (
	minBlock = 2 << 10
	maxBlock = 128 << 10
	// maxKept is the most rows' memory that waits for another page.
	maxKept = 2 << 20
)

var memories = sync.Pool{New: func() any { return new(memory) }}

// copy returns a copy of b that lives as long as the page.
func (m *memory) copy(b []byte) []byte {
	for m.block < len(m.blocks) && m.filled+len(b) > len(m.blocks[m.block]) {
		m.block++
		m.filled = 0
	}
	if m.block == len(m.blocks) {
		m.blocks = append(m.blocks, make([]byte, max(len(b), min(max(m.used, minBlock), maxBlock))))
	}
	from := m.filled
	m.filled += copy(m.blocks[m.block][from:], b)
	m.used += len(b)
	return m.blocks[m.block][from:m.filled:m.filled]
}

// recycle is table.Page.Recycle.
func (m *memory) recycle() {
	size := 0
	for _, b := range m.blocks {
		size += len(b)
	}
	if size > maxKept {
		return
	}
	clear(m.rows)
	*m = memory{rows: m.rows[:0], blocks: m.blocks}
	memories.Put(m)
}

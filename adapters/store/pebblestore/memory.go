package pebblestore

import (
	"sync"

	"edgetable/core/table"
)

// memory holds the rows of a page in blocks that grow with the page. A recycled page
// leaves its memory to a later one.
type memory struct {
	rows   []table.Row
	blocks [][]byte
	block  int // index of the block being filled
	filled int // bytes used in that block
	used   int // bytes in all
}

const (
	minBlock = 2 << 10
	maxBlock = 128 << 10
	// maxKept is the largest memory that is kept for another page.
	maxKept = 2 << 20
)

var memories = sync.Pool{New: func() any { return new(memory) }}

// copy returns a copy of b in the memory of the page.
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

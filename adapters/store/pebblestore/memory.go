package pebblestore

import (
	"sync"

	"edgetable/core/edm"
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

// take adds a copy of a row to the page.
func (m *memory) take(row *table.Row) {
	k := len(row.Key)
	b := m.space(k + len(row.Properties))
	copy(b, row.Key)
	copy(b[k:], row.Properties)
	m.rows = append(m.rows, table.Row{Key: b[:k:k], Timestamp: row.Timestamp, Nonce: row.Nonce, Properties: edm.Properties(b[k:])})
}

// space returns n bytes of the memory of the page.
func (m *memory) space(n int) []byte {
	for m.block < len(m.blocks) && m.filled+n > len(m.blocks[m.block]) {
		m.block++
		m.filled = 0
	}
	if m.block == len(m.blocks) {
		m.blocks = append(m.blocks, make([]byte, max(n, min(max(m.used, minBlock), maxBlock))))
	}
	from := m.filled
	m.filled += n
	m.used += n
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

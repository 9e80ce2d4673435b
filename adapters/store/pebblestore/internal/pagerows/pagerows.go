// Package pagerows manages the memory of pages.
package pagerows

import (
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Memory holds the rows of a page in blocks that grow with the page. Recycle passes the memory of a page on to a
// later one.
type Memory struct {
	Rows   []table.Row
	blocks [][]byte
	block  int // index of the block that is being filled
	filled int // bytes used in that block
	used   int // total number of bytes used
}

const (
	minBlock = 2 << 10
	maxBlock = 128 << 10
	// maxKept is the largest size of memory that is kept for another page.
	maxKept = 2 << 20
)

// Get returns memory for a page, reused from an earlier page if possible.
func Get() *Memory { return memories.Get().(*Memory) }

var memories = sync.Pool{New: func() any { return new(Memory) }}

// Take adds a copy of a row to the page.
func (m *Memory) Take(row *table.Row) {
	k := len(row.Key)
	b := m.space(k + len(row.Properties))
	copy(b, row.Key)
	copy(b[k:], row.Properties)
	m.Rows = append(m.Rows, table.Row{Key: b[:k:k], Timestamp: row.Timestamp, Nonce: row.Nonce, Properties: edm.Properties(b[k:])})
}

// space returns n bytes of the memory of the page.
func (m *Memory) space(n int) []byte {
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

// Recycle is [table.Page].Recycle.
func (m *Memory) Recycle() {
	size := 0
	for _, b := range m.blocks {
		size += len(b)
	}
	if size > maxKept {
		return
	}
	clear(m.Rows)
	*m = Memory{Rows: m.Rows[:0], blocks: m.blocks}
	memories.Put(m)
}

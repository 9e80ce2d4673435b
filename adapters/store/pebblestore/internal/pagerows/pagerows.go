// Package pagerows allocates the memory for the entities of pages, and reuses it for later pages.
package pagerows

import (
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Memory contains the entities of a page. Its blocks become larger as the page grows. Recycle makes the memory
// available for a later page.
type Memory struct {
	Rows   []table.Row
	blocks [][]byte
	block  int // index of the block that is being filled
	filled int // bytes used in the block that is being filled
	used   int // total number of bytes used
}

const (
	minBlock = 2 << 10
	maxBlock = 128 << 10
	// maxKept is the maximum size in bytes of a Memory that is reused for another page.
	maxKept = 2 << 20
)

// Get returns an empty Memory. It may contain unused blocks from an earlier page.
func Get() *Memory { return memories.Get().(*Memory) }

var memories = sync.Pool{New: func() any { return new(Memory) }}

// Take adds a copy of an entity to the page.
func (m *Memory) Take(row *table.Row) {
	k := len(row.Key)
	b := m.space(k + len(row.Properties))
	copy(b, row.Key)
	copy(b[k:], row.Properties)
	m.Rows = append(m.Rows, table.Row{Key: b[:k:k], Timestamp: row.Timestamp, Nonce: row.Nonce, Properties: edm.Properties(b[k:])})
}

// space returns n unused bytes of the memory.
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

// Recycle makes the memory available for a later page. It is the Recycle function of a [table.Page].
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

package scan

import (
	"sync"
	"sync/atomic"
)

// Progress counts finished work. It is safe for concurrent use. The zero Progress is ready to use.
type Progress struct {
	Rows atomic.Int64 // finished rows of this run and of earlier runs

	earlier atomic.Int64 // finished rows of earlier runs
	Input   Input        // used by an import only
	// NearLimit counts entities near the size limit among those that a copy or a comparison reads.
	NearLimit NearLimit

	mu           sync.Mutex
	scan         *scan // table that is being read
	tables, done int
}

// Input counts the input that an import reads.
type Input struct {
	Size, Read atomic.Int64 // total bytes of the input, and the bytes read so far
	Rows       atomic.Int64 // number of rows in the bytes read so far
}

// Tables sets the number of tables.
func (p *Progress) Tables(n int) { p.tables = n }

// Resume sets the number of rows that earlier runs finished.
func (p *Progress) Resume(rows int64) {
	p.earlier.Store(rows)
	p.Rows.Store(rows)
}

// New returns the number of new rows: the rows that this run has finished.
func (p *Progress) New() int64 { return p.Rows.Load() - p.earlier.Load() }

// Share estimates the finished share of the work as a number up to 1. The result 0 means that the
// share is unknown.
func (p *Progress) Share() float64 {
	if size, input := p.Input.Size.Load(), p.Input.Read.Load(); size > 0 && input > 0 {
		rows := float64(p.Input.Rows.Load()) * float64(size) / float64(input)
		return min(float64(p.Rows.Load())/max(rows, 1), 1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scan == nil {
		return 0
	}
	return (float64(p.done) + p.scan.readShare()) / float64(max(p.tables, 1))
}

func (p *Progress) begin(s *scan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scan = s
}

func (p *Progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scan = nil
	p.done++
}

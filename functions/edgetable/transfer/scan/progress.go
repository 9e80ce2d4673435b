package scan

import (
	"sync"
	"sync/atomic"
)

// Progress counts finished work. The zero value is ready to use. It is safe for concurrent use.
type Progress struct {
	Rows atomic.Int64 // number of rows finished by this run and earlier runs

	earlier atomic.Int64 // number of rows finished by earlier runs
	Input   Input        // only imports use this field
	// NearLimit counts entities near the size limit in copies and comparisons.
	NearLimit NearLimit

	mu           sync.Mutex
	scan         *scan // table that is being read, or nil
	tables, done int
}

// Input counts the input of an import.
type Input struct {
	Size, Read atomic.Int64 // total size of the input and size of the part that was read, in bytes
	Rows       atomic.Int64 // number of rows in the part that was read
}

// Tables sets the number of tables.
func (p *Progress) Tables(n int) { p.tables = n }

// Resume sets the number of rows finished by earlier runs.
func (p *Progress) Resume(rows int64) {
	p.earlier.Store(rows)
	p.Rows.Store(rows)
}

// New returns the number of rows finished by this run.
func (p *Progress) New() int64 { return p.Rows.Load() - p.earlier.Load() }

// Share estimates the finished share of the work, from 0 to 1. It returns 0 if the share is unknown.
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

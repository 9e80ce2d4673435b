package scan

import (
	"sync"
	"sync/atomic"
)

// Progress counts finished work. Many goroutines may use it; its zero value is
// ready.
type Progress struct {
	Rows atomic.Int64 // that are done, in earlier runs too

	earlier atomic.Int64 // rows of earlier runs
	Input   Input        // of an import
	// NearLimit counts the entities that a copy or a comparison meets.
	NearLimit NearLimit

	mu           sync.Mutex
	scan         *scan // of the table that is read now
	tables, done int
}

// Input counts what an import reads.
type Input struct {
	Size, Read atomic.Int64 // bytes in all, and those that were read
	Rows       atomic.Int64 // in the bytes that were read
}

// Tables sets how many tables there are.
func (p *Progress) Tables(n int) { p.tables = n }

// Resume sets what earlier runs did.
func (p *Progress) Resume(rows int64) {
	p.earlier.Store(rows)
	p.Rows.Store(rows)
}

// New returns how many rows this run did.
func (p *Progress) New() int64 { return p.Rows.Load() - p.earlier.Load() }

// Share estimates how much of the work is done, from 0 for unknown to 1.
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
	return (float64(p.done) + p.scan.share()) / float64(max(p.tables, 1))
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

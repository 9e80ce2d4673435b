package buckets

import (
	"context"
	"sync"
	"sync/atomic"

	"edgetable/core/key"
)

// fetch is one read of a wave.
type fetch struct {
	stream *stream
	r      key.Range
	limit  Limit
	chunk  Chunk
}

// read does the reads of a wave and returns when all of them did. The first
// error ends the others.
func (s *scan) read(wave []fetch) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	err := s.serial(wave)
	if err != nil && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return err
}

func (s *scan) serial(wave []fetch) (err error) {
	if s.o.FanOut > 1 && len(wave) > 1 {
		return s.concurrent(wave)
	}
	for i := range wave {
		f := &wave[i]
		if f.chunk, err = s.src.Read(s.ctx, f.stream.bucket, f.r, f.limit); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) concurrent(wave []fetch) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var (
		next  atomic.Int32
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	work := func() {
		defer group.Done()
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(wave) {
				return
			}
			f := &wave[i]
			chunk, err := s.src.Read(ctx, f.stream.bucket, f.r, f.limit)
			if err != nil {
				once.Do(func() { first = err })
				cancel()
				return
			}
			f.chunk = chunk
		}
	}
	n := min(s.o.FanOut, len(wave))
	group.Add(n)
	for range n - 1 {
		go work()
	}
	work()
	group.Wait()
	if first == nil {
		return s.ctx.Err()
	}
	return first
}

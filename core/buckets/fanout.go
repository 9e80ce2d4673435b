package buckets

import (
	"context"

	"edgetable/core/key"
)

// rangeRead is one read of a wave (a group of concurrent reads).
type rangeRead struct {
	stream *stream
	r      key.Range
	limit  Limit
	chunk  Chunk
}

func (f *rangeRead) read(ctx context.Context, src Source) (err error) {
	f.chunk, err = src.Read(ctx, f.stream.bucket, f.r, f.limit)
	return err
}

// read runs the reads of the current wave and waits for them. The first error cancels the other reads and is returned.
// If ctx is done, read returns the error of ctx: no read starts after that, so reads may be missing.
func (s *scan) read() error {
	var err error
	if w, ok := s.src.(Waves); ok && s.o.FanOut > 1 && len(s.wave) > 1 {
		err = s.readWave(w)
	} else if s.o.FanOut > 1 && len(s.wave) > 1 {
		err = fanOut(s.ctx, s.src, s.wave, s.o.FanOut)
	} else {
		for i := 0; i < len(s.wave) && err == nil && s.ctx.Err() == nil; i++ {
			err = s.wave[i].read(s.ctx, s.src)
		}
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return err
}

// readWave passes the reads of the current wave to src, at most FanOut reads per call.
func (s *scan) readWave(src Waves) error {
	for wave := s.wave; len(wave) > 0 && s.ctx.Err() == nil; {
		n := min(len(wave), s.o.FanOut)
		reads := make([]Read, n)
		for i, f := range wave[:n] {
			reads[i] = Read{Bucket: f.stream.bucket, Range: f.r, Limit: f.limit}
		}
		if err := src.ReadWave(s.ctx, reads); err != nil {
			return err
		}
		for i := range reads {
			wave[i].chunk = reads[i].Chunk
		}
		wave = wave[n:]
	}
	return nil
}

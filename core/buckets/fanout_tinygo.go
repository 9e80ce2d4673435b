//go:build tinygo

package buckets

import "context"

// fanOut runs the reads one after another, because TinyGo modules have no goroutines.
func fanOut(ctx context.Context, src Source, wave []rangeRead, _ int) error {
	for i := 0; i < len(wave) && ctx.Err() == nil; i++ {
		if err := wave[i].read(ctx, src); err != nil {
			return err
		}
	}
	return nil
}

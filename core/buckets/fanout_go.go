//go:build !tinygo

package buckets

import (
	"context"
	"sync"
	"sync/atomic"
)

// fanOut starts the reads in order, and waits for all of them. At most width reads run at a time.
func fanOut(parent context.Context, src Source, wave []rangeRead, width int) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var (
		next  atomic.Int32
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	work := func() {
		defer group.Done()
		for {
			i := int(next.Add(1)) - 1
			if i >= len(wave) || ctx.Err() != nil {
				return
			}
			if err := wave[i].read(ctx, src); err != nil {
				once.Do(func() { first = err })
				cancel() // this ends the loops
			}
		}
	}
	n := min(width, len(wave))
	group.Add(n)
	for range n - 1 {
		go work()
	}
	work()
	group.Wait()
	return first
}

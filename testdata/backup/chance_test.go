package backup

import (
	"math/rand/v2"
	"sync"
)

// dice is a random number generator for several goroutines. Its seed is always the same.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.r == nil {
		d.r = rand.New(rand.NewPCG(1, 1))
	}
	return d.r.IntN(n)
}

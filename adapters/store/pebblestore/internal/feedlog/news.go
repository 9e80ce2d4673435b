package feedlog

import "sync/atomic"

// News notifies waiters of the commits of a table. The zero News has no waiters and no commits.
type News struct {
	last atomic.Int64
	bell atomic.Pointer[chan struct{}]
}

// Tell reports the commit with this number.
func (n *News) Tell(number int64) {
	for {
		last := n.last.Load()
		if number <= last || n.last.CompareAndSwap(last, number) {
			break
		}
	}
	n.Ring()
}

// Ring wakes all waiters.
func (n *News) Ring() {
	if bell := n.bell.Load(); bell != nil && n.bell.CompareAndSwap(bell, nil) {
		close(*bell)
	}
}

// Listen returns a channel that the next commit closes, and the number of the last commit.
func (n *News) Listen() (bell <-chan struct{}, last int64) {
	for {
		if b := n.bell.Load(); b != nil {
			return *b, n.last.Load()
		}
		c := make(chan struct{})
		if n.bell.CompareAndSwap(nil, &c) {
			return c, n.last.Load()
		}
	}
}

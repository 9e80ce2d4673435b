package feedlog

import "sync/atomic"

// News notifies waiting goroutines when a table has new commits. The zero value is ready to use.
type News struct {
	last atomic.Int64
	bell atomic.Pointer[chan struct{}]
}

// Announce records the number of a new commit and wakes all waiting goroutines.
func (n *News) Announce(number int64) {
	for {
		last := n.last.Load()
		if number <= last || n.last.CompareAndSwap(last, number) {
			break
		}
	}
	n.Ring()
}

// Ring wakes all waiting goroutines.
func (n *News) Ring() {
	if bell := n.bell.Load(); bell != nil && n.bell.CompareAndSwap(bell, nil) {
		close(*bell)
	}
}

// Listen returns a channel and the highest number that was passed to Announce. The next Announce or Ring closes the
// channel.
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

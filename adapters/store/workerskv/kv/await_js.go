//go:build js && wasm

package kv

import (
	"context"
	"errors"
	"syscall/js"
	"time"
)

// waiter is where a goroutine waits for a promise or a timer that it made itself.
// The shell knows it by a number, which is its place, and calls settled: a function of
// package js would do, but each call of one is a goroutine with a stack of its own.
type waiter struct {
	number  int
	settled chan bool
}

// waiters are all, idle those that nobody uses. Goroutines do not run in parallel
// here.
var waiters, idle []*waiter

func take() *waiter {
	if last := len(idle) - 1; last >= 0 {
		w := idle[last]
		idle = idle[:last]
		return w
	}
	w := &waiter{number: len(waiters), settled: make(chan bool, 1)}
	waiters = append(waiters, w)
	return w
}

// settled is called when a promise was kept or not, or when a timer is up. The
// goroutine goes on when the scheduler runs.
//
//export settled
func settled(number, kept uint32) { waiters[number].settled <- kept != 0 }

// await waits for a promise.
func (n *Namespace) await(promise js.Value) (js.Value, error) {
	w := take()
	n.shell.Call("await", promise, w.number)
	kept := <-w.settled
	value := n.shell.Call("outcome", w.number)
	idle = append(idle, w)
	if !kept {
		return value, errors.New("KV: " + value.Call("toString").String())
	}
	return value, nil
}

// Pause waits by a timer of its own. That of time.Sleep is one for all goroutines,
// and belongs to the request that happened to set it.
func (n *Namespace) Pause(_ context.Context, d time.Duration) {
	w := take()
	n.shell.Call("pause", float64(d)/float64(time.Millisecond), w.number)
	<-w.settled
	idle = append(idle, w)
}

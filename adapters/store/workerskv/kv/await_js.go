//go:build js && wasm

package kv

import (
	"errors"
	"syscall/js"
)

// waiter makes a goroutine wait for a promise that it made itself. The shell passes
// the waiter's index to settled. A callback of package js would work, too, but each
// call of it starts a goroutine with its own stack.
type waiter struct {
	number  int
	settled chan bool
}

// waiters holds all waiters, idle the unused ones. Goroutines do not run in parallel here.
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

// settled is called when a promise resolves or rejects. The goroutine continues when
// the scheduler runs.
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

//go:build js && wasm

package kv

import (
	"errors"
	"syscall/js"
)

// waiter lets a goroutine wait for a JavaScript promise. When the promise has settled, the shell (the JavaScript code
// around this module) calls settled with the waiter's number.
type waiter struct {
	number  int
	settled chan bool
}

// waiters contains all waiters, and idle contains the unused ones. No lock is necessary, because goroutines do not run
// in parallel in wasm.
var waiters, idle []*waiter

func borrowWaiter() *waiter {
	if last := len(idle) - 1; last >= 0 {
		w := idle[last]
		idle = idle[:last]
		return w
	}
	w := &waiter{number: len(waiters), settled: make(chan bool, 1)}
	waiters = append(waiters, w)
	return w
}

// settled is called by the JavaScript shell when a promise has settled. If the promise was rejected, kept is 0.
//
//export settled
func settled(number, kept uint32) { waiters[number].settled <- kept != 0 }

// await waits for a promise and returns its result.
func (n *Namespace) await(promise js.Value) (js.Value, error) {
	w := borrowWaiter()
	n.shell.Call("await", promise, w.number)
	kept := <-w.settled
	value := n.shell.Call("outcome", w.number)
	idle = append(idle, w)
	if !kept {
		return value, errors.New("KV: " + value.Call("toString").String())
	}
	return value, nil
}

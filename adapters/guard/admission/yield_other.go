//go:build !linux

package admission

import "runtime"

// yield lets other goroutines run first.
func yield() { runtime.Gosched() }

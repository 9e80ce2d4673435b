//go:build !linux

package dial

import "time"

// limit does nothing on this operating system, whose default timeout applies.
func limit(uintptr, time.Duration) {}

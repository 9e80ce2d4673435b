//go:build !linux

package dial

import "time"

// limit does nothing: the default of the operating system applies.
func limit(uintptr, time.Duration) {}

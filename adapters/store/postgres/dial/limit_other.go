//go:build !linux

package dial

import "time"

// limit does nothing. The default timeout of the operating system applies.
func limit(uintptr, time.Duration) {}

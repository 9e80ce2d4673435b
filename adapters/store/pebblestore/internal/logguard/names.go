package logguard

import (
	"fmt"
	"strings"
)

// LogName returns the name of the file of a log.
func LogName(n uint32) string { return fmt.Sprintf("%06d.log", n) }

// Number returns the number of a log by the name of its file. ok is false for other files.
func Number(name string) (n uint32, ok bool) {
	if !strings.HasSuffix(name, ".log") {
		return 0, false // most are, and Sscanf is slow
	}
	_, err := fmt.Sscanf(name, "%d.log", &n)
	return n, err == nil && name == LogName(n)
}

package logguard

import (
	"fmt"
	"strings"
)

// LogName returns the file name of the log with number n.
func LogName(n uint32) string { return fmt.Sprintf("%06d.log", n) }

// Number returns the number of a log from its file name. ok is false if this is not the name of a log.
func Number(name string) (n uint32, ok bool) {
	if !strings.HasSuffix(name, ".log") {
		return 0, false // most files are not logs, and Sscanf is slow
	}
	_, err := fmt.Sscanf(name, "%d.log", &n)
	return n, err == nil && name == LogName(n)
}

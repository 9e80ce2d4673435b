// Package reload notices files that have changed, so that a server reads them again.
package reload

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"time"

	"edgetable/functions/edgetable/descriptors"
)

// Every is how often files are looked at.
const Every = 500 * time.Millisecond

// Changes tells when files have changed.
type Changes struct{ applied, seen string }

// Due reports whether files with this stamp are to be read: when they have changed
// and rested since the last look, as they may be half written. Asked, they are read
// in any case.
func (c *Changes) Due(stamp string, asked bool) bool {
	rested := stamp == c.seen
	c.seen = stamp
	if !asked && (stamp == c.applied || !rested) {
		return false
	}
	c.applied = stamp
	return true
}

// StampOf changes when the content or the mode of a file does. It reads the file:
// times and sizes are the same for two files written within one tick of the clock.
func StampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return file + err.Error()
	}
	content, err := descriptors.Try(func() ([]byte, error) { return os.ReadFile(file) })
	if err != nil {
		return file + err.Error()
	}
	return fmt.Sprintf("%s %v %x", file, info.Mode(), sha256.Sum256(content))
}

// Watch looks for changes at each tick until ctx ends, and reads all files when the
// program is asked to by SIGHUP.
func Watch(ctx context.Context, ticks <-chan time.Time, hangup <-chan os.Signal, log *slog.Logger, reload ...func(asked bool)) {
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
			log.Info("reload", "why", "hangup signal received")
		case <-ticks:
		}
		for _, f := range reload {
			f(asked)
		}
	}
}

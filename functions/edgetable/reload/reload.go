// Package reload detects changed files, so that a server can reload them.
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

// Every is the interval at which files are checked.
const Every = 500 * time.Millisecond

// Changes detects changes of files by a stamp, a string that differs after each change.
type Changes struct{ applied, seen string }

// Due reports whether the files must be reloaded. This is true once after each change, as soon as two consecutive calls
// have the same stamp. It is always true if force is set.
func (c *Changes) Due(stamp string, force bool) bool {
	rested := stamp == c.seen
	c.seen = stamp
	if !force && (stamp == c.applied || !rested) {
		return false
	}
	c.applied = stamp
	return true
}

// StampOf returns a string that differs after each change of the content or mode of a file. It does not read pipes.
func StampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return file + err.Error()
	}
	if !info.Mode().IsRegular() {
		return file + info.Mode().String()
	}
	// The size and the time are not enough: two writes within a clock tick may leave both equal.
	content, err := descriptors.OpenWithReserve(func() ([]byte, error) { return os.ReadFile(file) })
	if err != nil {
		return file + err.Error()
	}
	return fmt.Sprintf("%s %v %x", file, info.Mode(), sha256.Sum256(content))
}

// Watch calls the reload functions at each tick until ctx is done. On SIGHUP, it calls them with asked set, so that
// they reload their files unconditionally.
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

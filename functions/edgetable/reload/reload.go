// Package reload detects changed files, so that a server reads them again.
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

// Every is how often files are checked.
const Every = 500 * time.Millisecond

// Changes detects changes of files by their stamps.
type Changes struct{ applied, seen string }

// Due reports whether files with this stamp should be read: they have changed, and have been stable since the last
// check, because they might be half written before. If asked is set, they are always read.
func (c *Changes) Due(stamp string, asked bool) bool {
	rested := stamp == c.seen
	c.seen = stamp
	if !asked && (stamp == c.applied || !rested) {
		return false
	}
	c.applied = stamp
	return true
}

// StampOf returns a text that changes when the content or mode of a file does. It reads the content, because time and
// size can be equal for two files written within one clock tick.
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

// Watch checks for changes at each tick until ctx ends, and reloads all files on SIGHUP.
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

// Package reload detects that files have changed, so that a server can read them again.
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

// Every specifies the interval between two checks of the files.
const Every = 500 * time.Millisecond

// Changes detects changes of files. Its caller passes a stamp of the files: a text that changes when the files
// change.
type Changes struct{ applied, seen string }

// Due reports whether the caller should read the files again, because they have changed since Due last returned true. A
// file that is still changing may be half written. So Due returns false until two calls in a row get the same stamp.
// With asked=true, Due always returns true.
func (c *Changes) Due(stamp string, asked bool) bool {
	rested := stamp == c.seen
	c.seen = stamp
	if !asked && (stamp == c.applied || !rested) {
		return false
	}
	c.applied = stamp
	return true
}

// StampOf returns a text that changes when the content or the mode of a file changes. It reads the content: two
// versions of a file can have the same size and time if they were written within one clock tick. It does not read a
// pipe, because a pipe has its content only once.
func StampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return file + err.Error()
	}
	if !info.Mode().IsRegular() {
		return file + info.Mode().String()
	}
	content, err := descriptors.Try(func() ([]byte, error) { return os.ReadFile(file) })
	if err != nil {
		return file + err.Error()
	}
	return fmt.Sprintf("%s %v %x", file, info.Mode(), sha256.Sum256(content))
}

// Watch calls all reload functions with asked=false at each tick, until ctx ends. On SIGHUP, Watch calls the functions
// with asked=true. Then the functions must read their files, even if the files seem unchanged.
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

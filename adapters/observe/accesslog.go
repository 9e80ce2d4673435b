package observe

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"edgetable/core/protocol"
)

// AccessLog writes one line per request. A request only adds a record in memory. The lines of many records are
// formatted and written together in the background, which takes half the time of doing so within each request.
type AccessLog struct {
	path   string // "" for standard error
	asJSON bool
	log    *slog.Logger

	mu      sync.Mutex // not held while lines are formatted, so that requests do not wait for that
	records accessRecords
	timer   *time.Timer // calls the method flush when lines have waited for the time accessDelay
	waiting bool        // whether timer is running

	writing sync.Mutex // guards the fields below; locked before mu
	to      io.Writer
	file    *os.File // file that is open for writing, or nil for standard error
	clock   logClock
	spare   accessRecords // memory of written records, for reuse
	lines   []byte        // memory for lines, for reuse
	failed  time.Time     // when a failed write was last reported
}

const (
	accessDelay = 100 * time.Millisecond // maximum age of a record in memory
	accessCount = 2048                   // if this many records are in memory, they are written at once
	accessLimit = 16384                  // if this many records are in memory, requests wait for the disk
	accessTexts = 1 << 20                // if this many bytes are in memory, requests wait for the disk
)

// OpenAccessLog opens the log file; "-" means standard error. It returns nil if path is empty.
func OpenAccessLog(path string, asJSON bool, stderr io.Writer, log *slog.Logger) (*AccessLog, error) {
	a := &AccessLog{asJSON: asJSON, log: log, to: stderr}
	switch path {
	case "":
		return nil, nil
	case "-":
	default:
		a.path = path
		if err := a.open(); err != nil {
			return nil, fmt.Errorf("--access-log: %w", err)
		}
	}
	a.timer = time.AfterFunc(time.Hour, a.flush)
	a.timer.Stop()
	return a, nil
}

func (a *AccessLog) open() error {
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if a.file != nil {
		_ = a.file.Close() // an error does not matter, because all lines of this file have been written
	}
	a.to, a.file = f, f
	return nil
}

// Reload reopens the file if the argument is true, that is, after the signal SIGHUP. A program for log rotation sends
// SIGHUP when it has renamed the old file.
func (a *AccessLog) Reload(asked bool) {
	if !asked || a.path == "" {
		return
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write()
	if err := a.open(); err != nil {
		a.log.Error("the access log cannot be reopened; the old file stays in use", "cause", err)
	}
}

// Close writes the remaining lines and closes the file.
func (a *AccessLog) Close() {
	if a == nil {
		return
	}
	a.flush()
	if a.file != nil {
		_ = a.file.Close()
	}
}

func (a *AccessLog) flush() {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write()
}

// write writes the lines of all records in memory; the caller holds a.writing. A failure, such as a full disk, is
// only reported, because it must not stop the server.
func (a *AccessLog) write() {
	a.mu.Lock()
	records := a.records
	a.records, a.waiting = a.spare, false
	a.mu.Unlock()
	a.lines = a.clock.appendAccess(a.lines[:0], a.asJSON, records)
	a.spare = records.reset()
	if len(a.lines) == 0 {
		return
	}
	if _, err := a.to.Write(a.lines); err != nil && time.Since(a.failed) > time.Minute {
		a.failed = time.Now()
		a.log.Error("lines of the access log are lost", "cause", err)
	}
}

// Observe adds the record of a request.
func (a *AccessLog) Observe(resp *protocol.Response, end time.Time) {
	a.mu.Lock()
	a.records.add(resp, end)
	n, bytes := len(a.records.list), len(a.records.text)
	if !a.waiting {
		a.waiting = true
		a.timer.Reset(accessDelay)
	}
	a.mu.Unlock()
	switch {
	case n >= accessLimit || bytes >= accessTexts:
		a.flush()
	case n == accessCount:
		go a.flush()
	}
}

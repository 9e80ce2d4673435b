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

// AccessLog writes one line per request. Lines are formatted and written in batches in the background, which costs half
// as much as one write per request.
type AccessLog struct {
	path   string // path of the file; "" for standard error
	asJSON bool
	log    *slog.Logger

	mu      sync.Mutex // this mutex is not held while lines are formatted, so that requests do not wait for the formatting
	records accessRecords
	timer   *time.Timer // timer that calls flush after accessDelay
	waiting bool        // the timer is running

	writing sync.Mutex // mutex for the fields below; locked before mu
	to      io.Writer
	file    *os.File // open file; nil for standard error
	clock   logClock
	spare   accessRecords // memory of written records, for reuse
	lines   []byte        // memory for lines, for reuse
	failed  time.Time     // time at which a failed write was last logged
}

const (
	accessDelay = 100 * time.Millisecond // maximum age of a record in memory
	accessCount = 2048                   // number of records in memory at which they are written without delay
	accessLimit = 16384                  // number of records in memory at which requests wait for the disk
	accessTexts = 1 << 20                // number of bytes in memory at which requests wait for the disk
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
		_ = a.file.Close() // all lines of the file have been written
	}
	a.to, a.file = f, f
	return nil
}

// Reload reopens the file if force is true. The parameter force is true after the signal SIGHUP. A program for log
// rotation sends this signal after it has renamed the file.
func (a *AccessLog) Reload(force bool) {
	if !force || a.path == "" {
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

// write writes the records in memory. It only logs a failure, such as a full disk, because a failure must not stop the
// server. a.writing must be held.
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

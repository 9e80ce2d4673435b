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

// AccessLog writes a line for each request. A request leaves a record, and the lines of
// many records are made and written together, beside the requests: in a row that takes
// half of the time that it takes between the other work of each request.
type AccessLog struct {
	path   string // "" for standard error
	asJSON bool
	log    *slog.Logger

	mu      sync.Mutex // never held while lines are made
	records accessRecords
	timer   *time.Timer // writes the lines
	waiting bool        // for timer

	writing sync.Mutex // locked before mu
	to      io.Writer
	file    *os.File // to, if it is opened here
	clock   logClock
	spare   accessRecords // the memory of records that were written
	lines   []byte        // likewise
	failed  time.Time     // when a failed write was last reported
}

const (
	accessDelay = 100 * time.Millisecond // of a record in memory
	accessCount = 2048                   // in memory, beyond which they are written at once
	accessLimit = 16384                  // in memory, beyond which requests wait for the disk
	accessTexts = 1 << 20                // bytes, likewise
)

// OpenAccessLog opens a file for the lines; "-" is standard error. It returns nil if
// there is none.
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
		_ = a.file.Close() // its lines were written
	}
	a.to, a.file = f, f
	return nil
}

// Reload opens the file again when SIGHUP asks for it: a program that rotates
// logs has renamed the old one.
func (a *AccessLog) Reload(asked bool) {
	if !asked || a.path == "" {
		return
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write()
	if err := a.open(); err != nil {
		a.log.Error("the access log stays in the old file", "cause", err)
	}
}

// Close writes the remaining lines.
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

// write writes the lines of the records in memory, with writing locked. A full disk must
// not end the server.
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

// Observe adds the line of a request.
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

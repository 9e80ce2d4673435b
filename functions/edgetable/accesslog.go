package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"edgetable/core/protocol"
)

// accessLog writes a line for each request. It collects lines for a moment, since
// a write for each would cost as much as a small request.
type accessLog struct {
	path   string // "" for standard error
	asJSON bool
	log    *slog.Logger

	mu      sync.Mutex
	to      io.Writer
	file    *os.File // to, if it is opened here
	lines   []byte
	timer   *time.Timer // writes the lines
	waiting bool        // for timer
	failed  time.Time   // when a failed write was last reported
}

const (
	accessDelay = 200 * time.Millisecond // of a line in memory
	accessBytes = 32 << 10               // in memory, beyond which they are written at once
)

// openAccessLog opens the file of --access-log; "-" is standard error. It returns
// nil if there is none.
func (p *program) openAccessLog(o *serveFlags, log *slog.Logger) (*accessLog, error) {
	a := &accessLog{asJSON: o.logFormat == "json", log: log, to: p.err}
	switch o.accessLog {
	case "":
		return nil, nil
	case "-":
	default:
		a.path = o.accessLog
		if err := a.open(); err != nil {
			return nil, fmt.Errorf("--access-log: %w", err)
		}
	}
	a.timer = time.AfterFunc(time.Hour, a.flush)
	a.timer.Stop()
	return a, nil
}

func (a *accessLog) open() error {
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

// reload opens the file again when SIGHUP asks for it: a program that rotates
// logs has renamed the old one.
func (a *accessLog) reload(asked bool) {
	if !asked || a.path == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write()
	if err := a.open(); err != nil {
		a.log.Error("the access log stays in the old file", "cause", err)
	}
}

// close writes what is left.
func (a *accessLog) close() {
	if a == nil {
		return
	}
	a.flush()
	if a.file != nil {
		_ = a.file.Close()
	}
}

func (a *accessLog) flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write()
}

// write writes the lines in memory. A full disk must not end the server.
func (a *accessLog) write() {
	a.waiting = false
	if len(a.lines) == 0 {
		return
	}
	_, err := a.to.Write(a.lines)
	a.lines = a.lines[:0]
	if err != nil && time.Since(a.failed) > time.Minute {
		a.failed = time.Now()
		a.log.Error("lines of the access log are lost", "cause", err)
	}
}

// observe adds the line of a request.
func (a *accessLog) observe(resp *protocol.Response, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = appendAccess(a.lines, a.asJSON, resp, now)
	switch {
	case len(a.lines) >= accessBytes:
		a.write()
	case !a.waiting:
		a.waiting = true
		a.timer.Reset(accessDelay)
	}
}

// appendAccess appends a line. slog would take several times as long.
func appendAccess(dst []byte, asJSON bool, r *protocol.Response, now time.Time) []byte {
	l := accessLine{dst, asJSON}
	if asJSON {
		l.b = append(l.b, `{"time":"`...)
		l.b = now.AppendFormat(l.b, time.RFC3339Nano)
		l.b = append(l.b, `","level":"INFO","msg":"request","source":"`...)
		l.b = append(r.Source.AppendTo(l.b), '"')
	} else {
		l.b = append(l.b, "time="...)
		l.b = now.AppendFormat(l.b, time.RFC3339Nano)
		l.b = append(l.b, " level=INFO msg=request source="...)
		l.b = r.Source.AppendTo(l.b)
	}
	l.text("method", method(r.Method))
	l.number("status", r.Status)
	l.text("account", r.Account)
	l.text("operation", r.Operation)
	l.text("table", r.Table)
	l.text("code", r.Code)
	l.text("refused", string(r.Refused))
	l.number("received", r.Received)
	l.number("sent", r.Sent)
	l.number("scanned", r.Scanned)
	l.number("returned", r.Returned)
	if r.Waited > 0 {
		l.milliseconds("waited_ms", r.Waited)
	}
	l.milliseconds("took_ms", r.Took)
	l.text("request", r.RequestID)
	l.text("client_request", r.ClientRequestID)
	if r.Err != nil {
		l.text("cause", r.Err.Error())
	}
	if asJSON {
		l.b = append(l.b, '}')
	}
	return append(l.b, '\n')
}

// accessLine is a line in one of the formats of package slog.
type accessLine struct {
	b      []byte
	asJSON bool
}

func (l *accessLine) name(name string) {
	if l.asJSON {
		l.b = append(append(append(l.b, ',', '"'), name...), '"', ':')
	} else {
		l.b = append(append(append(l.b, ' '), name...), '=')
	}
}

func (l *accessLine) number(name string, n int) {
	l.name(name)
	l.b = strconv.AppendInt(l.b, int64(n), 10)
}

// milliseconds writes 1.234 for 1,234 µs; strconv's floats take longer.
func (l *accessLine) milliseconds(name string, d time.Duration) {
	l.name(name)
	us := d.Microseconds()
	l.b = strconv.AppendInt(l.b, us/1000, 10)
	l.b = append(l.b, '.', byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// text writes a text that is not empty, in quotes where that is necessary.
func (l *accessLine) text(name, s string) {
	if s == "" {
		return
	}
	l.name(name)
	switch {
	case plainText(s) && !l.asJSON:
		l.b = append(l.b, s...)
	case plainText(s):
		l.b = append(append(append(l.b, '"'), s...), '"')
	case l.asJSON:
		quoted, _ := json.Marshal(s) // which cannot fail
		l.b = append(l.b, quoted...)
	default:
		l.b = strconv.AppendQuote(l.b, s)
	}
}

// plainText reports whether a text needs no quotes and no escapes.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\' {
			return false
		}
	}
	return true
}

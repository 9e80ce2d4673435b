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
// a write for each would cost as much as a small request, and writes them beside the
// requests.
type accessLog struct {
	path   string // "" for standard error
	asJSON bool
	log    *slog.Logger

	mu      sync.Mutex // never held while lines are written
	lines   []byte
	clock   logClock
	timer   *time.Timer // writes the lines
	waiting bool        // for timer

	writing sync.Mutex // locked before mu
	to      io.Writer
	file    *os.File  // to, if it is opened here
	spare   []byte    // the memory of lines that were written
	failed  time.Time // when a failed write was last reported
}

const (
	accessDelay = 100 * time.Millisecond // of a line in memory
	accessBytes = 32 << 10               // in memory, beyond which they are written at once
	accessLimit = 1 << 20                // in memory, beyond which requests wait for the disk
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
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write()
	if err := a.open(); err != nil {
		a.log.Error("the access log stays in the old file", "cause", err)
	}
}

// close writes the remaining lines.
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
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write()
}

// write writes the lines in memory, with writing locked. A full disk must not end the
// server.
func (a *accessLog) write() {
	a.mu.Lock()
	lines := a.lines
	a.lines, a.waiting = a.spare[:0], false
	a.mu.Unlock()
	a.spare = lines
	if len(lines) == 0 {
		return
	}
	if _, err := a.to.Write(lines); err != nil && time.Since(a.failed) > time.Minute {
		a.failed = time.Now()
		a.log.Error("lines of the access log are lost", "cause", err)
	}
}

// observe adds the line of a request.
func (a *accessLog) observe(resp *protocol.Response, now time.Time) {
	a.mu.Lock()
	before := len(a.lines)
	a.lines = a.clock.appendAccess(a.lines, a.asJSON, resp, now)
	after := len(a.lines)
	if !a.waiting {
		a.waiting = true
		a.timer.Reset(accessDelay)
	}
	a.mu.Unlock()
	switch {
	case after >= accessLimit:
		a.flush()
	case before < accessBytes && after >= accessBytes:
		go a.flush()
	}
}

// logClock writes times. It formats each second once, since that takes as long as the
// rest of a line.
type logClock struct {
	second     int64
	head, zone []byte
}

func (c *logClock) append(dst []byte, now time.Time) []byte {
	if second := now.Unix(); second != c.second {
		c.second = second
		c.head = now.AppendFormat(c.head[:0], "2006-01-02T15:04:05.")
		c.zone = now.AppendFormat(c.zone[:0], "Z07:00")
	}
	us := now.Nanosecond() / 1000
	dst = append(dst, c.head...)
	dst = append(dst, byte('0'+us/100_000), byte('0'+us/10_000%10), byte('0'+us/1000%10),
		byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
	return append(dst, c.zone...)
}

// appendAccess appends a line. slog would take several times as long.
func (c *logClock) appendAccess(dst []byte, asJSON bool, r *protocol.Response, now time.Time) []byte {
	l := accessLine{dst, asJSON}
	if asJSON {
		l.b = append(l.b, `{"time":"`...)
		l.b = c.append(l.b, now)
		l.b = append(l.b, `","level":"INFO","msg":"request","source":"`...)
		l.b = append(r.Source.AppendTo(l.b), '"')
	} else {
		l.b = append(l.b, "time="...)
		l.b = c.append(l.b, now)
		l.b = append(l.b, " level=INFO msg=request source="...)
		l.b = r.Source.AppendTo(l.b)
	}
	l.word("method", method(r.Method))
	l.number("status", r.Status)
	l.text("account", r.Account)
	l.word("operation", r.Operation)
	l.text("table", r.Table)
	l.word("code", r.Code)
	l.word("refused", string(r.Refused))
	l.number("received", r.Received)
	l.number("sent", r.Sent)
	l.number("scanned", r.Scanned)
	l.number("returned", r.Returned)
	if r.Waited > 0 {
		l.milliseconds("waited_ms", r.Waited)
	}
	l.milliseconds("took_ms", r.Took)
	l.word("request", r.RequestID)
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

// word writes a text of the program's own that is not empty.
func (l *accessLine) word(name, s string) {
	if s == "" {
		return
	}
	l.name(name)
	if l.asJSON {
		l.b = append(append(append(l.b, '"'), s...), '"')
	} else {
		l.b = append(l.b, s...)
	}
}

// text writes a text of a client that is not empty, in quotes where that is necessary.
func (l *accessLine) text(name, s string) {
	if plainText(s) {
		l.word(name, s)
		return
	}
	l.name(name)
	if l.asJSON {
		quoted, _ := json.Marshal(s) // which cannot fail
		l.b = append(l.b, quoted...)
	} else {
		l.b = strconv.AppendQuote(l.b, s)
	}
}

// plainText reports whether a text needs no quotes and no escapes.
func plainText(s string) bool {
	for i := range len(s) {
		if !plainBytes[s[i]] {
			return false
		}
	}
	return true
}

var plainBytes = func() (plain [256]bool) {
	for c := byte('!'); c <= '~'; c++ {
		plain[c] = c != '"' && c != '=' && c != '\\'
	}
	return plain
}()

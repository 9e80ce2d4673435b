package main

import (
	"encoding/json"
	"strconv"
	"time"

	"edgetable/core/protocol"
)

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
	l := accessLine{b: dst}
	if asJSON {
		l.format = inJSON
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
	l.word(fieldMethod, method(r.Method))
	l.number(fieldStatus, r.Status)
	l.text(fieldAccount, r.Account)
	l.word(fieldOperation, r.Operation)
	l.text(fieldTable, r.Table)
	l.word(fieldCode, r.Code)
	l.word(fieldRefused, string(r.Refused))
	l.number(fieldReceived, r.Received)
	l.number(fieldSent, r.Sent)
	l.number(fieldScanned, r.Scanned)
	l.number(fieldReturned, r.Returned)
	if r.Waited > 0 {
		l.milliseconds(fieldWaited, r.Waited)
	}
	l.milliseconds(fieldTook, r.Took)
	l.word(fieldRequest, r.RequestID)
	l.text(fieldClientRequest, r.ClientRequestID)
	if r.Err != nil {
		l.text(fieldCause, r.Err.Error())
	}
	if asJSON {
		l.b = append(l.b, '}')
	}
	return append(l.b, '\n')
}

// accessLine is a line in one of the formats of package slog.
type accessLine struct {
	b      []byte
	format int
}

const (
	inText = iota
	inJSON
)

// accessField is how a field begins in each format.
type accessField [2]string

func newAccessField(name string) accessField {
	return accessField{inText: " " + name + "=", inJSON: `,"` + name + `":`}
}

var (
	fieldMethod        = newAccessField("method")
	fieldStatus        = newAccessField("status")
	fieldAccount       = newAccessField("account")
	fieldOperation     = newAccessField("operation")
	fieldTable         = newAccessField("table")
	fieldCode          = newAccessField("code")
	fieldRefused       = newAccessField("refused")
	fieldReceived      = newAccessField("received")
	fieldSent          = newAccessField("sent")
	fieldScanned       = newAccessField("scanned")
	fieldReturned      = newAccessField("returned")
	fieldWaited        = newAccessField("waited_ms")
	fieldTook          = newAccessField("took_ms")
	fieldRequest       = newAccessField("request")
	fieldClientRequest = newAccessField("client_request")
	fieldCause         = newAccessField("cause")
)

func (l *accessLine) number(f accessField, n int) {
	l.b = appendNumber(append(l.b, f[l.format]...), n)
}

// milliseconds writes 1.234 for 1,234 µs; strconv's floats take longer.
func (l *accessLine) milliseconds(f accessField, d time.Duration) {
	us := int(d / time.Microsecond)
	l.b = appendNumber(append(l.b, f[l.format]...), us/1000)
	l.b = append(l.b, '.', byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// appendNumber is quick with the digits that most fields are.
func appendNumber(dst []byte, n int) []byte {
	if 0 <= n && n <= 9 {
		return append(dst, byte('0'+n))
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// word writes a text of the program's own that is not empty.
func (l *accessLine) word(f accessField, s string) {
	if s == "" {
		return
	}
	l.b = append(l.b, f[l.format]...)
	if l.format == inJSON {
		l.b = append(append(append(l.b, '"'), s...), '"')
	} else {
		l.b = append(l.b, s...)
	}
}

// text writes a text of a client that is not empty, in quotes where that is necessary.
func (l *accessLine) text(f accessField, s string) {
	if plainText(s) {
		l.word(f, s)
		return
	}
	l.b = append(l.b, f[l.format]...)
	if l.format == inJSON {
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

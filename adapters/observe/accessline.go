package observe

import (
	"encoding/json"
	"strconv"
	"time"
)

// logClock formats times. It formats each second only once and reuses the text, because formatting takes as long as the
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

// appendAccess appends the lines of the records. slog would take several times as long.
func (c *logClock) appendAccess(dst []byte, asJSON bool, records accessRecords) []byte {
	l := accessLine{b: dst}
	if asJSON {
		l.format = inJSON
	}
	text := records.text
	next := func(n int) (s []byte) {
		s, text = text[:n], text[n:]
		return s
	}
	for i := range records.list {
		r := &records.list[i]
		if asJSON {
			l.b = append(l.b, `{"time":"`...)
			l.b = c.append(l.b, r.end)
			l.b = append(l.b, `","level":"INFO","msg":"request","source":"`...)
			l.b = append(r.source.AppendTo(l.b), '"')
		} else {
			l.b = append(l.b, "time="...)
			l.b = c.append(l.b, r.end)
			l.b = append(l.b, " level=INFO msg=request source="...)
			l.b = r.source.AppendTo(l.b)
		}
		l.appendConst(fieldMethod, string(next(r.method)))
		l.number(fieldStatus, r.status)
		l.appendText(fieldAccount, next(r.account))
		l.appendConst(fieldOperation, r.operation)
		l.appendText(fieldTable, next(r.table))
		l.appendConst(fieldCode, r.code)
		l.appendConst(fieldRefused, r.refused)
		l.number(fieldReceived, r.received)
		l.number(fieldSent, r.sent)
		l.number(fieldScanned, r.scanned)
		l.number(fieldReturned, r.returned)
		if r.waited > 0 {
			l.milliseconds(fieldWaited, r.waited)
		}
		l.milliseconds(fieldTook, r.took)
		cause := next(r.cause)
		l.appendText(fieldRequest, next(r.request))
		l.appendText(fieldClientRequest, next(r.clientRequest))
		l.appendText(fieldCause, cause)
		if asJSON {
			l.b = append(l.b, '}')
		}
		l.b = append(l.b, '\n')
	}
	return l.b
}

// accessLine builds a line in one of slog's formats.
type accessLine struct {
	b      []byte
	format int
}

const (
	inText = iota
	inJSON
)

// accessField is the text before the value of a field, in each format of the log.
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
	l.b = strconv.AppendInt(append(l.b, f[l.format]...), int64(n), 10)
}

// milliseconds appends a duration in milliseconds, for example 1.234 for 1,234 µs. This is faster than formatting a
// float with strconv.
func (l *accessLine) milliseconds(f accessField, d time.Duration) {
	us := int64(d / time.Microsecond)
	l.b = strconv.AppendInt(append(l.b, f[l.format]...), us/1000, 10)
	l.b = append(l.b, '.', byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// appendConst appends a field with a constant text, unless the text is empty.
func (l *accessLine) appendConst(f accessField, s string) {
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

// appendText appends a field with a text from a client, quoted if necessary, unless the text is empty.
func (l *accessLine) appendText(f accessField, s []byte) {
	if len(s) == 0 {
		return
	}
	l.b = append(l.b, f[l.format]...)
	switch plain := plainText(s); {
	case l.format == inText && plain:
		l.b = append(l.b, s...)
	case l.format == inText:
		l.b = strconv.AppendQuote(l.b, string(s))
	case plain:
		l.b = append(append(append(l.b, '"'), s...), '"')
	default:
		quoted, _ := json.Marshal(string(s)) // every string can be encoded
		l.b = append(l.b, quoted...)
	}
}

// plainText reports whether a text needs neither quotes nor escapes.
func plainText(s []byte) bool {
	for _, c := range s {
		if !plainBytes[c] {
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

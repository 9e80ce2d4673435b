// Package httpdate formats and parses HTTP dates (RFC 9110, section 5.6.7). There are three forms. Current clients send
// the first one:
//
//	Sun, 06 Nov 1994 08:49:37 GMT
//	Sunday, 06-Nov-94 08:49:37 GMT
//	Sun Nov  6 08:49:37 1994
//
// The layouts of package time are not used, because their code would make a wasm module a twentieth larger.
package httpdate

import (
	"strings"
	"time"
)

const (
	months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	days   = "SunMonTueWedThuFriSat"
)

// Append appends t in GMT, truncated to the second.
func Append(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	weekday := 3 * int(t.Weekday())
	dst = append(append(dst, days[weekday:weekday+3]...), ", "...)
	dst = append(appendTwo(dst, day), ' ')
	dst = append(append(dst, months[3*month-3:3*month]...), ' ')
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), ' ')
	dst = append(appendTwo(dst, hour), ':')
	dst = append(appendTwo(dst, minute), ':')
	return append(appendTwo(dst, second), " GMT"...)
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

// Parse parses a date in any of the three forms of HTTP dates. It ignores the case of day and month names, and does not
// check that the weekday matches the date.
func Parse(s string) (time.Time, bool) {
	f, ok := splitDate(s)
	if !ok {
		return time.Time{}, false
	}
	y, ok := number(f.year)
	if len(f.year) == 2 { // the year has two digits; its century is chosen as in package time
		if y += 1900; y < 1969 {
			y += 100
		}
	}
	m, d := 1+index(months, f.month), 0
	var hour, minute, second int
	for _, part := range [...]struct {
		s    string
		n    *int
		most int
	}{{f.day, &d, 31}, {f.clock[:2], &hour, 23}, {f.clock[3:5], &minute, 59}, {f.clock[6:], &second, 59}} {
		var digits bool
		*part.n, digits = number(part.s)
		ok = ok && digits && *part.n <= part.most
	}
	if !ok || m < 1 || index(days, f.weekday) < 0 || f.clock[2] != ':' || f.clock[5] != ':' {
		return time.Time{}, false
	}
	t := time.Date(y, time.Month(m), d, hour, minute, second, 0, time.UTC)
	return t, d > 0 && t.Day() == d // the result is false for dates such as 31 June
}

type fields struct{ weekday, day, month, year, clock string }

// splitDate finds the fields of a date. The functions for the three forms have the names of RFC 9110.
func splitDate(s string) (fields, bool) {
	name, rest, comma := strings.Cut(s, ", ")
	switch {
	case !comma:
		return asctimeDate(s)
	case len(name) == 3:
		return imfFixdate(name, rest)
	}
	return rfc850Date(name, rest)
}

// imfFixdate parses the form Sun, 06 Nov 1994 08:49:37 GMT.
func imfFixdate(name, rest string) (f fields, ok bool) {
	if len(rest) != len("06 Nov 1994 08:49:37 GMT") || rest[2] != ' ' || rest[6] != ' ' || rest[11] != ' ' || rest[20:] != " GMT" {
		return f, false
	}
	return fields{name, rest[:2], rest[3:6], rest[7:11], rest[12:20]}, true
}

// rfc850Date parses the form Sunday, 06-Nov-94 08:49:37 GMT.
func rfc850Date(name, rest string) (f fields, ok bool) {
	if len(rest) != len("06-Nov-94 08:49:37 GMT") || rest[2] != '-' || rest[6] != '-' || rest[9] != ' ' || rest[18:] != " GMT" || !longDay(name) {
		return f, false
	}
	return fields{name[:3], rest[:2], rest[3:6], rest[7:9], rest[10:18]}, true
}

// asctimeDate parses the form Sun Nov  6 08:49:37 1994.
func asctimeDate(s string) (f fields, ok bool) {
	if len(s) != len("Sun Nov  6 08:49:37 1994") || s[3] != ' ' || s[7] != ' ' || s[10] != ' ' || s[19] != ' ' {
		return f, false
	}
	return fields{s[:3], strings.TrimPrefix(s[8:10], " "), s[4:7], s[20:], s[11:19]}, true
}

// index returns the index of a name in a string of three-letter names, or -1.
func index(names, name string) int {
	for i := 0; i < len(names); i += 3 {
		if strings.EqualFold(names[i:i+3], name) {
			return i / 3
		}
	}
	return -1
}

func longDay(name string) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String(), name) {
			return true
		}
	}
	return false
}

func number(s string) (n int, ok bool) {
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}

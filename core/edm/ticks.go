package edm

import (
	"errors"
	"time"
)

// Ticks is a time in UTC, in units of 100 ns since 0001-01-01T00:00:00Z in the proleptic Gregorian calendar.
type Ticks int64

const (
	// TicksPerSecond is the number of ticks in a second.
	TicksPerSecond = 10_000_000

	// MinDateTime is 1601-01-01T00:00:00Z, the earliest Edm.DateTime that the service accepts.
	MinDateTime Ticks = 504_911_232_000_000_000
	// MaxDateTime is 9999-12-31T23:59:59.9999999Z.
	MaxDateTime Ticks = 3_155_378_975_999_999_999

	unixEpoch     = 62_135_596_800 // seconds from the start of year 1 to the start of 1970
	secondsPerDay = 86_400
)

// TicksOf returns t in ticks, truncated to 100 ns.
func TicksOf(t time.Time) Ticks {
	return Ticks((t.Unix()+unixEpoch)*TicksPerSecond + int64(t.Nanosecond()/100))
}

// Time returns t as a time.Time in UTC.
func (t Ticks) Time() time.Time {
	s, f := floorDiv(int64(t), TicksPerSecond)
	return time.Unix(s-unixEpoch, f*100).UTC()
}

func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// AppendText appends t as 2006-01-02T15:04:05.1234567Z, the form of property values, Timestamps and ETags. It omits
// trailing zeros of the fraction. The year must be 1 to 9999.
func (t Ticks) AppendText(dst []byte) []byte {
	return t.append(dst, false)
}

// AppendText7 is like [Ticks.AppendText] but always appends seven fractional digits. Error bodies and stored access
// policies have this form.
func (t Ticks) AppendText7(dst []byte) []byte {
	return t.append(dst, true)
}

// String returns t in the form of [Ticks.AppendText].
func (t Ticks) String() string { return string(t.AppendText(make([]byte, 0, 28))) }

func (t Ticks) append(dst []byte, keepZeros bool) []byte {
	sec, frac := uint64(t)/TicksPerSecond, uint64(t)%TicksPerSecond
	day, of, f := uint32(sec/secondsPerDay), uint32(sec%secondsPerDay), uint32(frac) // 32-bit division is faster
	y, m, d := civil(day)
	b := [28]byte{4: '-', 7: '-', 10: 'T', 13: ':', 16: ':', 19: '.'}
	b[0], b[1] = twoDigits(y / 100)
	b[2], b[3] = twoDigits(y % 100)
	b[5], b[6] = twoDigits(m)
	b[8], b[9] = twoDigits(d)
	b[11], b[12] = twoDigits(of / 3600)
	b[14], b[15] = twoDigits(of / 60 % 60)
	b[17], b[18] = twoDigits(of % 60)
	b[20], b[21] = twoDigits(f / 100_000)
	b[22], b[23] = twoDigits(f / 1000 % 100)
	b[24], b[25] = twoDigits(f / 10 % 100)
	b[26] = byte('0' + f%10)
	n := 27
	if !keepZeros {
		for n > 20 && b[n-1] == '0' {
			n--
		}
		if n == 20 {
			n--
		}
	}
	b[n] = 'Z'
	return append(dst, b[:n+1]...)
}

func twoDigits(n uint32) (tens, ones byte) { return byte('0' + n/10), byte('0' + n%10) }

// civil converts days since 0001-01-01 to a date. It counts years from 1 March of year 0, so that a leap day is the
// last day of a year.
func civil(day uint32) (y, m, d uint32) {
	day += 306
	era, doe := day/146_097, day%146_097
	yoe := (doe - doe/1460 + doe/36524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = doy - (153*mp+2)/5 + 1
	m = mp + 3
	y = yoe + era*400
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

// days is the inverse of civil.
func days(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era, yoe := floorDiv(y, 400)
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146_097 + doe - 306
}

// WholeDate completes a year, or a year and month, to a date as .NET does: 2015 becomes 2015-01-01. It returns other
// text unchanged.
func WholeDate(s string) string {
	switch len(s) {
	case len("2015"):
		return s + "-01-01"
	case len("2015-08"):
		return s + "-01"
	}
	return s
}

var errDateTime = errors.New("not a DateTime of the form 2006-01-02T15:04:05.1234567Z")

// ParseDateTime parses an ISO 8601 date, optionally with a time and a zone. It rounds the fraction to seven digits,
// half to even, as .NET does. The caller must check the range.
func ParseDateTime(s string) (Ticks, error) {
	p := dateParser{s: s}
	y := p.digits(4)
	p.lit('-')
	mo := p.digits(2)
	p.lit('-')
	d := p.digits(2)
	if p.bad || mo < 1 || mo > 12 || d < 1 || d > monthDays(y, mo) {
		return 0, errDateTime
	}
	ticks := days(y, mo, d) * secondsPerDay * TicksPerSecond
	if p.s == "" {
		return Ticks(ticks), nil
	}
	p.lit('T')
	h := p.digits(2)
	p.lit(':')
	mi := p.digits(2)
	var sec, frac int64
	if p.have(':') {
		sec = p.digits(2)
		if p.have('.') {
			frac = p.fraction()
		}
	}
	zone := p.zone()
	if p.bad || p.s != "" || h > 23 || mi > 59 || sec > 59 {
		return 0, errDateTime
	}
	ticks += (h*3600+mi*60+sec-zone)*TicksPerSecond + frac
	return Ticks(ticks), nil
}

func monthDays(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// dateParser parses a date. It removes the parsed text from the front of s. After an error, bad remains true.
type dateParser struct {
	s   string
	bad bool
}

func (p *dateParser) digits(n int) (v int64) {
	if len(p.s) < n {
		p.bad = true
		return 0
	}
	for i := range n {
		c := p.s[i] - '0'
		if c > 9 {
			p.bad = true
			return 0
		}
		v = v*10 + int64(c)
	}
	p.s = p.s[n:]
	return v
}

func (p *dateParser) have(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *dateParser) lit(c byte) {
	if !p.have(c) {
		p.bad = true
	}
}

// fraction parses a fraction of a second with one or more digits, and returns it in ticks.
func (p *dateParser) fraction() (v int64) {
	n, half, more := 0, false, false
	for n < len(p.s) && p.s[n] >= '0' && p.s[n] <= '9' {
		switch c := p.s[n]; {
		case n < 7:
			v = v*10 + int64(c-'0')
		case n == 7:
			half, more = c == '5', c > '5'
		default:
			more = more || half && c > '0'
		}
		n++
	}
	if more || half && v&1 == 1 {
		v++
	}
	if n == 0 {
		p.bad = true
	}
	p.s = p.s[n:]
	for ; n < 7; n++ {
		v *= 10
	}
	return v
}

// zone parses Z, ±hh:mm or nothing, and returns the offset from UTC in seconds.
func (p *dateParser) zone() int64 {
	sign := int64(1)
	switch {
	case p.s == "" || p.have('Z'):
		return 0
	case p.have('+'):
	case p.have('-'):
		sign = -1
	default:
		p.bad = true
		return 0
	}
	h := p.digits(2)
	p.lit(':')
	m := p.digits(2)
	if h > 14 || m > 59 {
		p.bad = true
	}
	return sign * (h*3600 + m*60)
}

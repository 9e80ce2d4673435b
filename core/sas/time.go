package sas

import (
	"errors"

	"edgetable/core/edm"
)

var errTime = errors.New("a time must have the form YYYY-MM-DD, YYYY-MM-DDThh:mmZ, YYYY-MM-DDThh:mm:ssZ or YYYY-MM-DDThh:mm:ss.fffffffZ, where Z may be ±hh:mm")

// ParseTime parses a time in a token or stored access policy: a date, or a date with a time and a zone. The time may
// have up to seven fractional digits. The year is 1601 to 9999.
func ParseTime(s string) (edm.Ticks, error) {
	if !timeForm(s) {
		return 0, errTime
	}
	t, err := edm.ParseDateTime(s)
	if err != nil || t < edm.MinDateTime || t > edm.MaxDateTime {
		return 0, errTime
	}
	return t, nil
}

// timeForm reports whether s has a form that tokens permit. [edm.ParseDateTime] also accepts a time without a zone, and
// a fraction of more than seven digits.
func timeForm(s string) bool {
	const date, minute, fraction = len("2006-01-02"), len("2006-01-02T15:04"), len("2006-01-02T15:04:05.")
	if len(s) <= date {
		return true // s is a date; edm.ParseDateTime checks its form
	}
	end := len(s) - len("Z")
	if s[end] != 'Z' {
		if end = len(s) - len("+00:00"); end < minute || s[end] != '+' && s[end] != '-' {
			return false
		}
	}
	return end <= fraction+7
}

// AppendTime appends t in UTC with seven fractional digits, as in the stored access policies that the service returns.
func AppendTime(dst []byte, t edm.Ticks) []byte { return t.AppendText7(dst) }

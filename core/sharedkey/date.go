package sharedkey

import (
	"strings"
	"time"
)

// Layouts of an HTTP date, the one that everybody sends first.
const (
	rfc1123GMT = "Mon, 02 Jan 2006 15:04:05 GMT"
	rfc850GMT  = "Monday, 02-Jan-06 15:04:05 GMT"
)

// FormatDate returns t as a client sends it in x-ms-date or Date.
func FormatDate(t time.Time) string { return t.UTC().Format(rfc1123GMT) }

// parseDate reads an HTTP date in any of its three forms. Zones other than GMT
// are refused, for time.Parse would take an unknown abbreviation as UTC.
func parseDate(s string) (time.Time, bool) {
	t, err := time.Parse(rfc1123GMT, s)
	if err == nil {
		return t, true
	}
	if strings.HasSuffix(s, " GMT") {
		t, err = time.Parse(rfc850GMT, s)
	} else {
		t, err = time.Parse(time.ANSIC, s)
	}
	return t, err == nil
}

// checkDate demands a readable date within maxSkew of now; maxSkew 0 demands
// only a readable one.
func checkDate(req *Request, now time.Time, maxSkew time.Duration) error {
	date := req.date()
	if date == "" {
		return refuse(NoDate, "send the time of the request in the x-ms-date header, for example "+FormatDate(now)+", and sign it")
	}
	t, ok := parseDate(date)
	if !ok {
		detail := append([]byte(nil), `the signed date "`...)
		detail = AppendEscaped(detail, date, 64)
		detail = append(detail, `" is not an RFC 1123 date in GMT such as "`...)
		detail = append(detail, FormatDate(now)...)
		return refuse(BadDate, string(append(detail, '"')))
	}
	if maxSkew <= 0 {
		return nil
	}
	if skew := now.Sub(t); skew > maxSkew || skew < -maxSkew {
		detail := append([]byte(nil), `the signed date "`...)
		detail = AppendEscaped(detail, date, 64)
		detail = append(detail, `" is more than `...)
		detail = append(detail, maxSkew.String()...)
		detail = append(detail, ` from the server's time "`...)
		detail = append(detail, FormatDate(now)...)
		return refuse(Skewed, string(append(detail, `"; check the client's clock, and that the date is made anew for each attempt`...)))
	}
	return nil
}

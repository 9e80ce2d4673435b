package sharedkey

import (
	"time"

	"edgetable/core/httpdate"
)

// FormatDate formats t for the headers x-ms-date and Date.
func FormatDate(t time.Time) string { return string(httpdate.Append(make([]byte, 0, 29), t)) }

// checkDate returns an error unless the signed date is well-formed and within maxSkew of now. If maxSkew is 0, any
// well-formed date is valid.
func checkDate(req *Request, now time.Time, maxSkew time.Duration) error {
	date := req.date()
	if date == "" {
		return refuse(NoDate, "send the time of the request in the x-ms-date header, for example "+FormatDate(now)+", and sign it")
	}
	t, ok := httpdate.Parse(date)
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
		return refuse(Skewed, string(append(detail, `"; check the client's clock, and set a new date for each attempt`...)))
	}
	return nil
}

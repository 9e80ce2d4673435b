package sharedkey

import "strconv"

// Reason says why a request was not authenticated. It implements error, so that errors.Is(err, sharedkey.Skewed) works
// for errors from Verify.
type Reason uint8

const (
	// Malformed means that the Authorization header cannot be parsed or names an unknown scheme: 400
	// InvalidAuthenticationInfo. All other reasons are 403 AuthenticationFailed.
	Malformed Reason = iota + 1
	// NoDate means that the request has neither x-ms-date nor Date.
	NoDate
	// BadDate means that the signed date is not an HTTP date.
	BadDate
	// Skewed means that the date is too far from the server's clock, in either direction.
	Skewed
	// Mismatch means that no key of the account yields the signature for the request.
	Mismatch
)

// Error returns the name of the reason.
func (r Reason) Error() string {
	switch r {
	case Malformed:
		return "malformed authorization header"
	case NoDate:
		return "no date"
	case BadDate:
		return "unreadable date"
	case Skewed:
		return "date outside the allowed skew"
	case Mismatch:
		return "signature mismatch"
	}
	return "reason " + strconv.Itoa(int(r))
}

// Error is an authentication error. Detail helps the client's developer: at most 1 KiB of printable ASCII, which may
// quote parts of the request, but never a key or a signature.
type Error struct {
	Reason Reason
	Detail string
}

// Error implements error.
func (e *Error) Error() string { return "sharedkey: " + e.Reason.Error() + ": " + e.Detail }

// Unwrap returns the reason, for errors.Is.
func (e *Error) Unwrap() error { return e.Reason }

func refuse(r Reason, detail string) error { return &Error{Reason: r, Detail: detail} }

// AppendEscaped appends at most limit bytes of s for use in a message. It escapes quotes, backslashes and everything
// except printable ASCII. Truncated text ends with "...".
func AppendEscaped(dst []byte, s string, limit int) []byte {
	const hex = "0123456789abcdef"
	end := len(dst) + limit
	for i := 0; i < len(s); i++ {
		width := 1
		c := s[i]
		switch {
		case c == '\n' || c == '\r' || c == '\t' || c == '"' || c == '\\':
			width = 2
		case c < ' ' || c > '~':
			width = 4
		}
		reserve := 3 // length of "...", which is not needed after the last byte
		if i == len(s)-1 {
			reserve = 0
		}
		if len(dst)+width+reserve > end {
			return append(dst, "..."...)
		}
		switch {
		case width == 1:
			dst = append(dst, c)
		case width == 4:
			dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', c)
		}
	}
	return dst
}

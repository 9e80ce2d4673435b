package wire

import (
	"time"

	"edgetable/core/sharedkey"
)

// signer appends the headers of SharedKeyLite authorization. It is not safe for concurrent use.
type signer struct {
	account string
	key     *sharedkey.Key
	second  int64
	date    string
}

// appendHeaders appends x-ms-date and Authorization. The date has a resolution of a second, so it is formatted at most
// once a second.
func (s *signer) appendHeaders(dst, path []byte, now time.Time) []byte {
	if sec := now.Unix(); sec != s.second || s.date == "" {
		s.second, s.date = sec, sharedkey.FormatDate(now)
	}
	dst = append(dst, "x-ms-date: "...)
	dst = append(dst, s.date...)
	dst = append(dst, "\r\nAuthorization: "...)
	dst = append(dst, s.key.Authorization(sharedkey.SharedKeyLite, s.account, sharedkey.Request{Path: string(path), XMSDate: s.date})...)
	return append(dst, "\r\n"...)
}

package sas

import (
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// refuse returns an error with the service's text for the code, followed by detail.
func refuse(code table.Code, detail string) *table.Error {
	return code.With(code.Err().Message + " Detail: " + detail + ".")
}

// authenticationFailed returns AuthenticationFailed with the given detail.
func authenticationFailed(detail string) *table.Error {
	return refuse(table.AuthenticationFailed, detail)
}

// mismatched returns the error for a wrong signature. It quotes the StringToSign that the server computed, for
// comparison with the client's.
func (t *Token) mismatched(account string) *table.Error {
	out := make([]byte, 0, 1200)
	out = append(out, "no key of account "...)
	out = sharedkey.AppendEscaped(out, account, 64)
	out = append(out, " made this signature. Check that the key is base64-decoded before signing and that the values are signed as sent, before percent-encoding. The string to sign of "...)
	out = append(out, article(t.kind)...)
	out = append(out, " of version "...)
	out = append(out, t.value(sv)...)
	out = append(out, ` is, with \n for a line feed: "`...)
	for i, line := range t.lines(make([]string, 0, maxLines), account) {
		if i > 0 {
			out = append(out, `\n`...)
		}
		out = sharedkey.AppendEscaped(out, line, 96)
	}
	return authenticationFailed(string(append(out, '"')))
}

func article(k kind) string {
	if k == accountSAS {
		return "an " + k.String()
	}
	return "a " + k.String()
}

func quote(s string) string {
	return string(append(sharedkey.AppendEscaped([]byte{'"'}, s, 64), '"'))
}

package sharedkey

import (
	"strings"
	"time"
)

// MaxSkew is the maximum difference that the service allows between the date of a request and the server's clock.
const MaxSkew = 15 * time.Minute

// Account is the name of an account and its keys. A nil key stands for a missing key.
type Account struct {
	Name string // name without the suffix "-secondary"
	Keys [2]*Key
}

// Verify returns nil if one of the account's keys signed the request, and an [*Error] otherwise. The signed date
// (x-ms-date, or else Date) must be within maxSkew of now. If maxSkew is 0, as in emulators, the date must only be
// well-formed.
//
// Verify tries the path as sent, its other spellings (see the package documentation), and for "/account-secondary/…"
// also "/account/…". It computes at most twelve HMACs.
func (a *Account) Verify(cred Credential, req Request, now time.Time, maxSkew time.Duration) error {
	if cred.Account != a.Name {
		detail := append([]byte(nil), `the Authorization header names account "`...)
		detail = AppendEscaped(detail, cred.Account, 64)
		detail = append(detail, `", the address names account "`...)
		detail = AppendEscaped(detail, a.Name, 64)
		return refuse(Mismatch, string(append(detail, '"')))
	}
	if err := checkDate(&req, now, maxSkew); err != nil {
		return err
	}
	// HTTP does not allow line feeds in these parts. If a transport accepted one, two different requests could have the
	// same StringToSign.
	for _, s := range [...]string{req.Method, req.ContentMD5, req.ContentType, req.Path} {
		if strings.IndexByte(s, '\n') >= 0 {
			return refuse(Mismatch, "a signed part of the request contains a line feed")
		}
	}
	if a.match(cred, req.Path, &req) || a.matchOther(cred, &req) {
		return nil
	}
	return refuse(Mismatch, a.explain(cred.Scheme, &req))
}

// match reports whether a key of the account made the signature for a request with the given path.
func (a *Account) match(cred Credential, path string, req *Request) bool {
	if len(cred.signature) != textSize {
		return false
	}
	for _, k := range a.Keys {
		if k == nil {
			continue
		}
		w := k.signer()
		w.buf = appendStringToSign(w.buf, cred.Scheme, a.Name, path, req)
		equal := w.isSignature(cred.signature)
		k.release(w)
		if equal {
			k.MarkUsed()
			return true
		}
	}
	return false
}

func (a *Account) matchOther(cred Credential, req *Request) bool {
	paths := spellings(make([]string, 0, 5), req.Path)
	if primary, ok := primaryPath(a.Name, req.Path); ok {
		paths = spellings(append(paths, primary), primary)
	}
	for _, path := range paths {
		if a.match(cred, path, req) {
			return true
		}
	}
	return false
}

// explain returns the detail of a Mismatch. It quotes the StringToSign that the server computed, for comparison with
// the client's. Parts are truncated to keep the detail below 1 KiB.
func (a *Account) explain(scheme Scheme, req *Request) string {
	out := make([]byte, 0, 1024)
	out = append(out, "no key of account "...)
	out = AppendEscaped(out, a.Name, 64)
	out = append(out, " made this signature. Check that the key is base64-decoded before signing, "+
		"that x-ms-date (or Date, without x-ms-date) is signed as sent, and that the path is signed as sent. "+
		"The "...)
	out = append(out, scheme.String()...)
	out = append(out, ` string to sign is, with \n for a line feed: "`...)
	if scheme == SharedKey {
		for _, s := range [...]string{req.Method, req.ContentMD5, req.ContentType} {
			out = AppendEscaped(out, s, 96)
			out = append(out, `\n`...)
		}
	}
	out = AppendEscaped(out, req.date(), 64)
	out = append(out, `\n`...)
	out = AppendEscaped(out, string(appendResource(nil, a.Name, req.Path, req.RawQuery)), 280)
	return string(append(out, '"'))
}

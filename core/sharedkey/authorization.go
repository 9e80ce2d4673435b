package sharedkey

import "strings"

// Scheme selects one of the two forms of the StringToSign.
type Scheme uint8

const (
	// SharedKey signs the verb, Content-MD5, Content-Type, date and resource.
	SharedKey Scheme = iota + 1
	// SharedKeyLite signs only the date and resource. Most SDKs use it for tables.
	SharedKeyLite
)

// String returns the name of the scheme in the Authorization header.
func (s Scheme) String() string {
	switch s {
	case SharedKey:
		return "SharedKey"
	case SharedKeyLite:
		return "SharedKeyLite"
	}
	return "unknown scheme"
}

// Credential is a parsed Authorization header. Printing it omits the signature.
type Credential struct {
	Scheme  Scheme
	Account string

	// signature is the base64 text as sent. It is compared as text, so that only one spelling is valid. As in the
	// service, other text than base64 is a wrong signature (403).
	signature string
}

// String returns the scheme and the account.
func (c Credential) String() string { return c.Scheme.String() + " " + c.Account + ":(withheld)" }

// GoString returns the same text as String, so that %#v omits the signature too.
func (c Credential) GoString() string { return c.String() }

// ParseAuthorization parses an Authorization header, "SharedKey account:signature" or "SharedKeyLite
// account:signature". The error is an [*Error] with [Malformed].
func ParseAuthorization(header string) (Credential, error) {
	name, rest, ok := strings.Cut(strings.Trim(header, " \t"), " ")
	if !ok {
		return Credential{}, refuse(Malformed, "the Authorization header must read 'SharedKey account:signature' or 'SharedKeyLite account:signature'")
	}
	var c Credential
	switch {
	case strings.EqualFold(name, "SharedKey"):
		c.Scheme = SharedKey
	case strings.EqualFold(name, "SharedKeyLite"):
		c.Scheme = SharedKeyLite
	default:
		return Credential{}, refuse(Malformed, "the authorization scheme must be SharedKey or SharedKeyLite")
	}
	c.Account, c.signature, ok = strings.Cut(strings.TrimLeft(rest, " "), ":")
	if !ok || !visible(c.Account) || !visible(c.signature) {
		return Credential{}, refuse(Malformed, "after the scheme, the Authorization header must read 'account:signature' without blanks")
	}
	return c, nil
}

// visible reports whether s is non-empty and consists of visible ASCII.
func visible(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

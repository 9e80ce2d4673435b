package sas

import (
	"strings"
	"unsafe"
)

// kind is the kind of a token: delegationSAS if it has parameters of a delegation key, else accountSAS if it has ss or
// srt, else tableSAS.
type kind uint8

const (
	tableSAS kind = iota + 1
	accountSAS
	delegationSAS
)

// String returns the name of the kind, for use after "a" or "an".
func (k kind) String() string {
	switch k {
	case tableSAS:
		return "table SAS"
	case accountSAS:
		return "account SAS"
	case delegationSAS:
		return "user delegation SAS"
	}
	return "unknown SAS"
}

// field is a parameter of a token. Sign writes the parameters in this order.
type field uint8

const (
	sv      field = iota // signed version
	ss                   // signed services
	srt                  // signed resource types
	tn                   // table name
	st                   // time at which the token becomes valid
	se                   // time at which the token expires
	sp                   // permissions of the token
	si                   // identifier of a stored access policy
	sip                  // source addresses
	spr                  // protocols
	ses                  // encryption scope, which does not exist for tables
	spk                  // first PartitionKey
	srk                  // first RowKey of the first partition
	epk                  // last PartitionKey
	erk                  // last RowKey of the last partition
	skoid                // object id of the user who requested the delegation key
	sktid                // tenant id of the user who requested the delegation key
	skt                  // start of the delegation key
	ske                  // expiry of the delegation key
	sks                  // field Service of the delegation key
	skv                  // version of the delegation key
	skdutid              // tenant id of the only user who may use the token
	sduoid               // object id of the only user who may use the token
	sig                  // signature
	fields  = iota
)

var fieldNames = [fields]string{
	"sv", "ss", "srt", "tn", "st", "se", "sp", "si", "sip", "spr", "ses", "spk", "srk", "epk", "erk",
	"skoid", "sktid", "skt", "ske", "sks", "skv", "skdutid", "sduoid", "sig",
}

type set uint32

func setOf(list ...field) (s set) {
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

func (s set) has(f field) bool { return s&(1<<f) != 0 }

// first returns the first field of a non-empty set.
func (s set) first() field {
	f := field(0)
	for !s.has(f) {
		f++
	}
	return f
}

// Token is a shared access signature as the client sent it. Do not trust its values before Verify has succeeded.
// Printing a Token omits the signature.
type Token struct {
	kind  kind
	given set            // present and non-empty fields
	text  string         // concatenated decoded values
	ends  [fields]uint16 // end of each value in text
	table string         // value of tn in lower case
}

// newToken decodes and validates the values. Their limits keep the total length below 64 KiB, so that each offset in
// Token.ends fits into 16 bits.
func newToken(values *[fields]string, decode func(dst []byte, s string) ([]byte, bool)) (*Token, error) {
	var t Token
	size := 0
	for f, v := range values {
		if len(v) > 3*limit(field(f)) {
			return nil, authenticationFailed("the parameter " + fieldNames[f] + " is too long")
		}
		size += len(v)
	}
	text := make([]byte, 0, size)
	for f, v := range values {
		if v != "" {
			start, ok := len(text), false
			if text, ok = decode(text, v); !ok {
				return nil, authenticationFailed("the parameter " + fieldNames[f] + " has a broken percent-escape")
			}
			if err := checkValue(field(f), text[start:]); err != nil {
				return nil, err
			}
			if len(text) > start {
				t.given |= 1 << f
			}
		}
		t.ends[f] = uint16(len(text))
	}
	t.text = unsafe.String(unsafe.SliceData(text), len(text)) // the text does not change from here on
	switch {
	case t.given&setOf(skoid, sktid, skt, ske, sks, skv) != 0:
		t.kind = delegationSAS
	case t.given&setOf(ss, srt) != 0:
		t.kind = accountSAS
	default:
		t.kind = tableSAS
	}
	t.table = fold(t.value(tn))
	token := t // this copy ensures that only a valid token is allocated on the heap
	return &token, nil
}

// value returns the decoded value of a field, or "" if it is absent.
func (t *Token) value(f field) string {
	start := uint16(0)
	if f > 0 {
		start = t.ends[f-1]
	}
	return t.text[start:t.ends[f]]
}

// Version returns the signed version (sv). It is also the protocol version of the request, unless the request names
// another version.
func (t *Token) Version() string { return t.value(sv) }

// Table returns the table name in lower case, or "" for an account SAS.
func (t *Token) Table() string { return t.table }

// String returns the kind and version without the signature.
func (t *Token) String() string {
	return t.kind.String() + " " + t.value(sv) + " (signature withheld)"
}

// GoString returns the same text as String, so that %#v omits the signature too.
func (t *Token) GoString() string { return t.String() }

// fold returns s with ASCII letters in lower case. Table names contain no other letters.
func fold(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, s)
		}
	}
	return s
}

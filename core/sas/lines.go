package sas

import (
	"strings"

	"edgetable/core/table"
	"edgetable/core/version"
)

// Versions that changed the signature or its parameters. Versions are dates and compare as text.
const (
	firstVersion      = "2012-02-12"
	serviceInResource = "2015-02-21" // from this version on, the signed resource begins with /table
	accountVersion    = "2015-04-05" // first version with account SAS, sip and spr
	scopeVersion      = "2020-12-06" // from this version on, the signature of an account SAS covers ses
	DelegationVersion = "2025-07-05" // first version with user delegation SAS for tables
)

// signedFields returns the fields that a signature covers in a token of the given kind and version.
func signedFields(k kind, v string) set {
	const (
		common     = 1<<sv | 1<<st | 1<<se | 1<<sp | 1<<sig
		origin     = 1<<sip | 1<<spr
		keys       = 1<<tn | 1<<spk | 1<<srk | 1<<epk | 1<<erk
		delegation = 1<<skoid | 1<<sktid | 1<<skt | 1<<ske | 1<<sks | 1<<skv | 1<<skdutid | 1<<sduoid
	)
	switch {
	case k == delegationSAS:
		return common | origin | keys | delegation
	case k == accountSAS && v >= scopeVersion:
		return common | origin | 1<<ss | 1<<srt | 1<<ses
	case k == accountSAS:
		return common | origin | 1<<ss | 1<<srt
	case v >= accountVersion:
		return common | origin | keys | 1<<si
	}
	return common | keys | 1<<si
}

// first returns the oldest version that has tokens of this kind.
func (k kind) first() string {
	switch k {
	case accountSAS:
		return accountVersion
	case delegationSAS:
		return DelegationVersion
	}
	return firstVersion
}

// required returns the fields that a token must contain. A stored access policy may supply the permissions and the
// expiry.
func (t *Token) required() set {
	s := set(1<<sv | 1<<sig)
	if !t.given.has(si) {
		s |= 1<<se | 1<<sp
	}
	switch t.kind {
	case accountSAS:
		return s | 1<<ss | 1<<srt
	case delegationSAS:
		return s | 1<<tn | 1<<skoid | 1<<sktid | 1<<skt | 1<<ske | 1<<sks | 1<<skv
	}
	return s | 1<<tn
}

// check validates the parameters of the token. It does not verify the signature.
func (t *Token) check() *table.Error {
	v := t.value(sv)
	if !version.Known(v) || v < t.kind.first() {
		return authenticationFailed("the version sv of " + article(t.kind) + " must be a published version such as 2019-02-02, from " + t.kind.first() + " on; it is " + quote(v))
	}
	if missing := t.required() &^ t.given; missing != 0 {
		return authenticationFailed(article(t.kind) + " needs the parameter " + fieldNames[missing.first()])
	}
	if foreign := t.given &^ signedFields(t.kind, v); foreign != 0 {
		return authenticationFailed("the parameter " + fieldNames[foreign.first()] + " is not part of " + article(t.kind) + " of version " + v)
	}
	switch {
	case t.given.has(srk) && !t.given.has(spk):
		return authenticationFailed("srk requires spk: a RowKey is a bound only within a partition")
	case t.given.has(erk) && !t.given.has(epk):
		return authenticationFailed("erk requires epk: a RowKey is a bound only within a partition")
	case !hasOnly(t.value(ss), "bqtf"):
		return authenticationFailed("ss must consist of the letters b, q, t and f; it is " + quote(t.value(ss)))
	case !hasOnly(t.value(srt), "sco"):
		return authenticationFailed("srt must consist of the letters s, c and o; it is " + quote(t.value(srt)))
	case t.given.has(sduoid) || t.given.has(skdutid):
		// With sduoid or skdutid, a token is valid only for one user or tenant. The client must then also send a bearer
		// token, which the server does not support.
		return authenticationFailed("tokens that are bound to one user (sduoid or skdutid) are not supported")
	}
	return nil
}

// hasOnly reports whether s contains only characters in letters.
func hasOnly(s, letters string) bool { return strings.Trim(s, letters) == "" }

func contains(s string, c byte) bool { return strings.IndexByte(s, c) >= 0 }

const maxLines = 19

// lines appends the lines of the StringToSign to dst. The last line of an account SAS is empty, because its
// StringToSign ends with a line feed.
func (t *Token) lines(dst []string, account string) []string {
	if t.kind == accountSAS {
		dst = append(dst, account, t.value(sp), t.value(ss), t.value(srt), t.value(st), t.value(se), t.value(sip), t.value(spr), t.value(sv))
		if t.value(sv) >= scopeVersion {
			dst = append(dst, t.value(ses))
		}
		return append(dst, "")
	}
	service := "/table/"
	if t.value(sv) < serviceInResource {
		service = "/"
	}
	resource := service + account + "/" + t.table
	dst = append(dst, t.value(sp), t.value(st), t.value(se), resource)
	if t.kind == delegationSAS {
		dst = append(dst, t.value(skoid), t.value(sktid), t.value(skt), t.value(ske), t.value(sks), t.value(skv), t.value(skdutid), t.value(sduoid))
	} else {
		dst = append(dst, t.value(si))
	}
	if t.value(sv) >= accountVersion {
		dst = append(dst, t.value(sip), t.value(spr))
	}
	return append(dst, t.value(sv), t.value(spk), t.value(srk), t.value(epk), t.value(erk))
}

package sharedkey_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/core/sharedkey"
)

// verifies signs one path and sends another path. It reports whether Verify accepts the signature.
func verifies(t *testing.T, signed, sent string) bool {
	t.Helper()
	a := &sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{key(t, keyText)}}
	cred := parse(t, a.Keys[0].Authorization(sharedkey.SharedKey, "acct", sharedkey.Request{Method: "GET", Path: signed, XMSDate: date}))
	err := a.Verify(cred, sharedkey.Request{Method: "GET", Path: sent, XMSDate: date}, now, sharedkey.MaxSkew)
	if err != nil && !errors.Is(err, sharedkey.Mismatch) {
		t.Errorf("signed %q, sent %q: %v", signed, sent, err)
	}
	return err == nil
}

// TestDecodedEscapes signs each byte unescaped and sends it escaped. Verify must accept the signature only for those
// bytes that mean the same in both forms.
func TestDecodedEscapes(t *testing.T) {
	t.Parallel()
	const same = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~'(),;=:@!$&*"
	for c := range 256 {
		if c == '\n' {
			continue // Verify refuses a path with a line feed
		}
		signed, sent := "/acct/t"+string([]byte{byte(c)})+"x", fmt.Sprintf("/acct/t%%%02Xx", c)
		if got, want := verifies(t, signed, sent), strings.IndexByte(same, byte(c)) >= 0; got != want {
			t.Errorf("signed %q, sent %q: %v, want %v", signed, sent, got, want)
		}
	}
}

// TestRootSignature checks that a signature over the root path, "/" or "", is valid for no other path.
func TestRootSignature(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"/acct", "/acct/t", "acct/t", "/acct-secondary", "/acct-secondaryx", "/acct-secondary/t", "/other/t", "/acct-", "/acct/t(%27%zz%27)", "/acct/t(%27a%27)", "/%"} {
		for _, signed := range []string{"", "/"} {
			if verifies(t, signed, sent) {
				t.Errorf("a signature over %q is accepted for %q", signed, sent)
			}
		}
	}
	for _, root := range []string{"", "/"} {
		if !verifies(t, "", root) || !verifies(t, "/", root) {
			t.Errorf("a signature over the root is refused for %q", root)
		}
	}
}

// TestBrokenEscapeOfTheSecondary checks paths with a malformed escape such as %zz. If the signed path and the sent path
// differ in other escapes, Verify must refuse the signature. Only one difference is permitted: the signed path may have
// the account's name (acct), and the sent path the name of the secondary (acct-secondary).
func TestBrokenEscapeOfTheSecondary(t *testing.T) {
	t.Parallel()
	if !verifies(t, "/acct/t%zz", "/acct-secondary/t%zz") {
		t.Error("signed as the primary's, it is refused")
	}
	if verifies(t, "/acct/t'%zz", "/acct-secondary/t%27%zz") {
		t.Error("in another spelling it is accepted")
	}
	for _, sent := range []string{"acct-secondary/t", "/-secondary/t", "/acct/acct/t", "/acct-secondary/x/acct/t"} {
		if verifies(t, "/acct/t", sent) {
			t.Errorf("a signature over /acct/t is accepted for %s", sent)
		}
	}
	if !verifies(t, "/acct", "/acct-secondary") {
		t.Error("the secondary itself, signed as the primary, is refused")
	}
}

// TestLineFeeds checks that a line feed anywhere in a signed part makes Verify refuse the request, even if the
// signature is correct.
func TestLineFeeds(t *testing.T) {
	t.Parallel()
	a := emulator(t)
	for _, text := range []string{"\nx", "x\n", "\n"} {
		for _, req := range []sharedkey.Request{{Method: text}, {ContentMD5: text}, {ContentType: text}, {Path: text}} {
			req.XMSDate = date
			cred := parse(t, a.Keys[0].Authorization(sharedkey.SharedKey, account, req))
			if err := a.Verify(cred, req, now, sharedkey.MaxSkew); !errors.Is(err, sharedkey.Mismatch) || !strings.Contains(err.Error(), "line feed") {
				t.Errorf("%+v: %v", req, err)
			}
		}
	}
}

// TestUsed checks that Verify marks the key that made the signature as used, and no other key.
func TestUsed(t *testing.T) {
	t.Parallel()
	a := &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{key(t, "Zmlyc3Q="), key(t, "c2Vjb25k")}}
	used := func(what string, ok bool) {
		t.Helper()
		if first, second := a.Keys[0].TakeUsed(), a.Keys[1].TakeUsed(); !ok || first || !second {
			t.Errorf("%s: verified %v, the first key was used: %v, the second: %v", what, ok, first, second)
		}
	}
	req := sharedkey.Request{Method: "GET", Path: "/", XMSDate: date}
	used("a request", a.Verify(parse(t, a.Keys[1].Authorization(sharedkey.SharedKey, account, req)), req, now, sharedkey.MaxSkew) == nil)
	lines := []string{"a", "b"}
	used("lines", a.VerifyLines(a.Keys[1].SignLines(lines), lines))
	if s := a.Keys[0].GoString(); s != a.Keys[0].String() || !strings.Contains(s, "withheld") {
		t.Errorf("a key prints as %s", s)
	}
}

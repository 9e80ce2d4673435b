package sharedkey_test

import (
	"net/url"
	"strings"
	"testing"

	"edgetable/core/sharedkey"
)

// FuzzSharedKey signs a request and checks that the signature verifies. It then changes one byte of a signed part and
// checks that the signature no longer verifies. There is one exception: the changed path may be another accepted
// spelling of the signed path. The two paths must then decode to the same bytes.
func FuzzSharedKey(f *testing.F) {
	f.Add(false, "GET", "/devstoreaccount1/mytable(PartitionKey='p',RowKey='r')", "comp=acl", "", "", uint8(0), uint16(3), byte('x'))
	f.Add(true, "POST", "/devstoreaccount1/Tables", "", "", "application/json", uint8(1), uint16(5), byte('%'))
	f.Add(true, "GET", "/t(%27%27)", "timeout=3", "md5", "a/b", uint8(1), uint16(4), byte('8'))
	f.Add(false, "GET", "/devstoreaccount1-secondary/devstoreaccount1/t('a')", "", "", "", uint8(2), uint16(5), byte('Q'))
	f.Add(false, "GET", "/devstoreaccount1-secondary/t('a')", "comp=%41", "", "", uint8(2), uint16(5), byte('Q'))
	f.Add(true, "PUT", "/t", "", "m", "a/b", uint8(4), uint16(0), byte('\n'))
	f.Fuzz(func(t *testing.T, lite bool, method, path, query, md5, contentType string, part uint8, at uint16, to byte) {
		scheme := sharedkey.SharedKey
		if lite {
			scheme = sharedkey.SharedKeyLite
		}
		if strings.Contains(method+path+md5+contentType, "\n") {
			return // HTTP cannot transport a line feed in these parts; TestLineFeeds checks such requests
		}
		a := emulator(t)
		req := sharedkey.Request{Method: method, Path: path, RawQuery: query, ContentMD5: md5, ContentType: contentType, XMSDate: date}
		header := a.Keys[0].Authorization(scheme, account, req)
		cred := parse(t, header)
		if err := a.Verify(cred, req, now, sharedkey.MaxSkew); err != nil {
			t.Fatalf("own signature: %v", err)
		}

		change := func(s string) string {
			if s == "" {
				return string(to)
			}
			b := []byte(s)
			b[int(at)%len(b)] = to
			return string(b)
		}
		changed := req
		switch part % 6 {
		case 0:
			changed.Method = change(method)
		case 1:
			changed.Path = change(path)
		case 2:
			changed.RawQuery = change(query)
		case 3:
			changed.ContentMD5 = change(md5)
		case 4:
			changed.ContentType = change(contentType)
		case 5:
			changed.XMSDate = change(date)
		}
		err := a.Verify(cred, changed, now, 0)
		before, after := sharedkey.StringToSign(scheme, account, req), sharedkey.StringToSign(scheme, account, changed)
		switch {
		case before == after:
			// The change does not affect the string to sign, so the signature must still be valid.
			if err != nil && to != '\n' {
				t.Fatalf("same string to sign %q: %v", before, err)
			}
		case err == nil && !sameResource(path, changed.Path):
			t.Fatalf("signature over %q verifies %q", before, after)
		}

		// A changed Authorization header must not verify, unless the change affects only the case of the scheme.
		broken := change(header)
		n := len(scheme.String())
		if strings.EqualFold(broken[:n], header[:n]) && broken[n:] == header[n:] {
			return
		}
		if c, err := sharedkey.ParseAuthorization(broken); err == nil && a.Verify(c, req, now, 0) == nil {
			t.Fatalf("%q verifies", broken)
		}
	})
}

// sameResource reports whether Verify may treat two paths as spellings of one path.
func sameResource(a, b string) bool {
	const secondary = "/" + account + "-secondary"
	strip := func(s string) string {
		if rest, ok := strings.CutPrefix(s, secondary); ok && (rest == "" || rest[0] == '/') {
			if twice, ok := strings.CutPrefix(rest, "/"+account+"/"); ok {
				return "/" + account + "/" + twice
			}
			return "/" + account + rest
		}
		return s
	}
	ua, errA := url.PathUnescape(a)
	ub, errB := url.PathUnescape(b)
	return errA == nil && errB == nil && strip(ua) == strip(ub)
}

// FuzzParseAuthorization checks that parsing never panics, and never accepts a header without an account.
func FuzzParseAuthorization(f *testing.F) {
	for _, s := range []string{"SharedKey a:b", "SharedKeyLite a:b=", "Bearer x", "SharedKey", " : ", "SharedKey \x00:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c, err := sharedkey.ParseAuthorization(header)
		if (err == nil) != (c.Account != "") || (err == nil) != (c.Scheme != 0) {
			t.Fatalf("%q: %v, %v", header, c, err)
		}
		if err == nil && !strings.Contains(header, c.Account+":") {
			t.Fatalf("account %q is not in %q", c.Account, header)
		}
		if err == nil && emulator(t).Verify(c, sharedkey.Request{Method: "GET", Path: "/", XMSDate: date}, now, 0) == nil {
			t.Fatalf("%q authenticates", header)
		}
	})
}

package sharedkey_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	const other = "c2Vjb25kYXJ5IGtleSBvZiB0aGUgYWNjb3VudA=="
	point := sharedkey.Request{Method: "GET", Path: "/acct/t(PartitionKey='a b',RowKey='%25')", XMSDate: date, ContentType: "application/json", ContentMD5: "m"}
	with := func(change func(*sharedkey.Request)) sharedkey.Request {
		r := point
		change(&r)
		return r
	}
	path := func(p string) sharedkey.Request { return with(func(r *sharedkey.Request) { r.Path = p }) }
	for _, tt := range []struct {
		name   string
		signed sharedkey.Request
		sent   sharedkey.Request
		key    string
		want   sharedkey.Reason // 0 if the request must be authenticated
	}{
		{"as signed", point, point, keyText, 0},
		{"with the second key", point, point, other, 0},
		{"with a key of somebody else", point, point, "bm9ib2R5", sharedkey.Mismatch},

		{"other verb", point, with(func(r *sharedkey.Request) { r.Method = "DELETE" }), keyText, sharedkey.Mismatch},
		{"other Content-Type", point, with(func(r *sharedkey.Request) { r.ContentType = "" }), keyText, sharedkey.Mismatch},
		{"other Content-MD5", point, with(func(r *sharedkey.Request) { r.ContentMD5 = "n" }), keyText, sharedkey.Mismatch},
		{"other comp", point, with(func(r *sharedkey.Request) { r.RawQuery = "comp=acl" }), keyText, sharedkey.Mismatch},
		{"the rest of the query is not signed", point, with(func(r *sharedkey.Request) { r.RawQuery = "$top=1" }), keyText, 0},
		{"Date behind x-ms-date is not looked at", point, with(func(r *sharedkey.Request) { r.Date = "yesterday" }), keyText, 0},
		{"x-ms-date counts alone, although Date was signed",
			with(func(r *sharedkey.Request) { r.XMSDate, r.Date = "", date }),
			with(func(r *sharedkey.Request) { r.XMSDate, r.Date = "Mon, 27 Jun 2016 15:25:15 GMT", date }), keyText, sharedkey.Mismatch},
		{"line feed moved between lines",
			with(func(r *sharedkey.Request) { r.ContentMD5, r.ContentType = "a", "b\nc" }),
			with(func(r *sharedkey.Request) { r.ContentMD5, r.ContentType = "a\nb", "c" }), keyText, sharedkey.Mismatch},

		{"Python: signs quotes, sends %27", path("/acct/t(RowKey='')"), path("/acct/t(RowKey=%27%27)"), keyText, 0},
		{"Python: signs sub-delimiters and unreserved, other escapes kept",
			path("/acct/t(PartitionKey='a%20b-~',RowKey='%25%2f')"),
			path("/acct/t%28PartitionKey%3D%27a%20b%2d%7E%27%2CRowKey%3D%27%25%2f%27%29"), keyText, 0},
		{"signs %27, sends quotes", path("/acct/t(RowKey=%27r%27)"), path("/acct/t(RowKey='r')"), keyText, 0},
		{"any other spelling is refused: blank", path("/acct/t(RowKey='a b')"), path("/acct/t(RowKey='a%20b')"), keyText, sharedkey.Mismatch},
		{"any other spelling is refused: case of kept escapes", path("/acct/t(RowKey='%2F')"), path("/acct/t(RowKey='%2f')"), keyText, sharedkey.Mismatch},
		{"any other spelling is refused: decoded twice", path("/acct/t(RowKey=''')"), path("/acct/t(RowKey='%2527')"), keyText, sharedkey.Mismatch},
		{"no second spelling of a broken escape", path("/acct/t(RowKey=%27%zz%27)"), path("/acct/t(RowKey='%zz')"), keyText, sharedkey.Mismatch},

		{"secondary, path style, signed as sent", path("/acct-secondary/t"), path("/acct-secondary/t"), keyText, 0},
		{"secondary, path style, signed as primary", path("/acct/t"), path("/acct-secondary/t"), keyText, 0},
		{"secondary, signed as primary in another spelling", path("/acct/t('')"), path("/acct-secondary/t(%27%27)"), keyText, 0},
		{"secondary, its path behind that of the primary, signed as primary", path("/acct/t"), path("/acct-secondary/acct/t"), keyText, 0},
		{"secondary, a table named like the account", path("/acct/acct"), path("/acct-secondary/acct"), keyText, 0},
		{"secondary, another account behind it", path("/other/t"), path("/acct-secondary/other/t"), keyText, sharedkey.Mismatch},
		{"primary, signed as secondary", path("/acct-secondary/t"), path("/acct/t"), keyText, sharedkey.Mismatch},
		{"table that looks like the secondary", path("/acctx"), path("/acct-secondaryx"), keyText, sharedkey.Mismatch},

		{"no date", with(func(r *sharedkey.Request) { r.XMSDate = "" }), with(func(r *sharedkey.Request) { r.XMSDate = "" }), keyText, sharedkey.NoDate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{key(t, keyText), key(t, other)}}
			cred := parse(t, key(t, tt.key).Authorization(sharedkey.SharedKey, "acct", tt.signed))
			err := a.Verify(cred, tt.sent, now, sharedkey.MaxSkew)
			if tt.want == 0 && err != nil || tt.want != 0 && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestVerifyDate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, date string
		skew       time.Duration
		want       sharedkey.Reason
	}{
		{"RFC 1123", date, sharedkey.MaxSkew, 0},
		{"RFC 850", "Monday, 27-Jun-16 15:25:14 GMT", sharedkey.MaxSkew, 0},
		{"asctime", "Mon Jun 27 15:25:14 2016", sharedkey.MaxSkew, 0},
		{"15 minutes ago", "Mon, 27 Jun 2016 15:10:14 GMT", sharedkey.MaxSkew, 0},
		{"a second older", "Mon, 27 Jun 2016 15:10:13 GMT", sharedkey.MaxSkew, sharedkey.Skewed},
		{"15 minutes ahead", "Mon, 27 Jun 2016 15:40:14 GMT", sharedkey.MaxSkew, 0},
		{"a second further", "Mon, 27 Jun 2016 15:40:15 GMT", sharedkey.MaxSkew, sharedkey.Skewed},
		{"any time with the check off", "Sun, 06 Nov 1994 08:49:37 GMT", 0, 0},
		{"not a date, even with the check off", "today", 0, sharedkey.BadDate},
		{"another zone", "Mon, 27 Jun 2016 15:25:14 PST", sharedkey.MaxSkew, sharedkey.BadDate},
		{"RFC 850 in another zone", "Monday, 27-Jun-16 15:25:14 PST", sharedkey.MaxSkew, sharedkey.BadDate},
		{"ISO 8601, as SAS uses it", "2016-06-27T15:25:14Z", sharedkey.MaxSkew, sharedkey.BadDate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := sharedkey.Request{Method: "GET", Path: "/t", XMSDate: tt.date}
			cred := parse(t, key(t, keyText).Authorization(sharedkey.SharedKeyLite, account, req))
			err := emulator(t).Verify(cred, req, now, tt.skew)
			if tt.want == 0 && err != nil || tt.want != 0 && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestVerifyWrongCredential(t *testing.T) {
	t.Parallel()
	req := sharedkey.Request{Method: "GET", Path: "/t", XMSDate: date}
	good := key(t, keyText).Authorization(sharedkey.SharedKeyLite, account, req)
	for _, tt := range []struct{ name, header string }{
		{"signature of the other scheme", strings.Replace(good, "Lite", "", 1)},
		{"other account than the address", strings.Replace(good, account, "devstoreaccount2", 1)},
		{"cut signature", good[:len(good)-1]},
		{"empty padding bits set: a second spelling of the same bytes", good[:len(good)-2] + string(good[len(good)-2]+1) + "="},
		{"not base64", "SharedKeyLite " + account + ":" + strings.Repeat("!", 44)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := emulator(t).Verify(parse(t, tt.header), req, now, sharedkey.MaxSkew); !errors.Is(err, sharedkey.Mismatch) {
				t.Errorf("got %v, want Mismatch", err)
			}
		})
	}
	t.Run("an account without keys lets nobody in", func(t *testing.T) {
		t.Parallel()
		a := &sharedkey.Account{Name: account}
		for _, cred := range []sharedkey.Credential{parse(t, good), {Account: account}} {
			if err := a.Verify(cred, req, now, sharedkey.MaxSkew); !errors.Is(err, sharedkey.Mismatch) {
				t.Errorf("got %v, want Mismatch", err)
			}
		}
	})
}

// TestDetail checks that the detail of an error, which is for the client's developer, is useful, at most 1 KiB long,
// and free of secrets.
func TestDetail(t *testing.T) {
	t.Parallel()
	detail := func(req sharedkey.Request, header string) string {
		t.Helper()
		err := emulator(t).Verify(parse(t, header), req, now, sharedkey.MaxSkew)
		var e *sharedkey.Error
		if !errors.As(err, &e) {
			t.Fatalf("got %v, want a refusal", err)
		}
		return e.Detail
	}
	req := sharedkey.Request{Method: "GET", Path: "/t\x1b\"é", XMSDate: date, ContentType: "a/b"}
	forged := "SharedKey " + account + ":" + strings.Repeat("A", 43) + "="
	got := detail(req, forged)
	if want := `"GET\n\na/b\n` + date + `\n/devstoreaccount1/t\x1b\"\xc3\xa9"`; !strings.HasSuffix(got, want) {
		t.Errorf("detail\n got %s\nwant suffix %s", got, want)
	}
	right := key(t, keyText).Sign(sharedkey.StringToSign(sharedkey.SharedKey, account, req))
	for _, secret := range []string{keyText, right, strings.Repeat("A", 43)} {
		if strings.Contains(got, secret) {
			t.Errorf("detail shows %q", secret)
		}
	}

	long := strings.Repeat("\x01", 5000)
	for _, req := range []sharedkey.Request{
		{Method: long, Path: long, RawQuery: "comp=" + long, ContentMD5: long, ContentType: long, XMSDate: date},
		{Method: "GET", XMSDate: long},
	} {
		if got := detail(req, forged); len(got) > 1024 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
	if got := detail(req, "SharedKey "+strings.Repeat("x", 5000)+":AA=="); len(got) > 1024 {
		t.Errorf("%d bytes", len(got))
	}
}

package sharedkey_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
)

// The well-known key of the emulator account, public by design.
const (
	account = "devstoreaccount1"
	keyText = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	date    = "Mon, 27 Jun 2016 15:25:14 GMT"
)

var now = time.Date(2016, 6, 27, 15, 25, 14, 0, time.UTC)

func key(t testing.TB, text string) *sharedkey.Key {
	t.Helper()
	k, err := sharedkey.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func emulator(t testing.TB) *sharedkey.Account {
	return &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{key(t, keyText)}}
}

func parse(t testing.TB, header string) sharedkey.Credential {
	t.Helper()
	c, err := sharedkey.ParseAuthorization(header)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestVectors compares with signatures that other implementations computed for
// the emulator account.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		scheme    sharedkey.Scheme
		req       sharedkey.Request
		sts       string
		signature string
	}{
		{
			"create a table, path style: the account appears twice", sharedkey.SharedKey,
			sharedkey.Request{Method: "POST", Path: "/devstoreaccount1/Tables", ContentType: "application/json", XMSDate: date},
			"POST\n\napplication/json\n" + date + "\n/devstoreaccount1/devstoreaccount1/Tables",
			"IJ2WSCZvMD3QakOTDOqZxzyd1eHN4Q0JBl8FcbpteSc=",
		},
		{
			"the same in Lite: date and resource only", sharedkey.SharedKeyLite,
			sharedkey.Request{Method: "POST", Path: "/devstoreaccount1/Tables", ContentType: "application/json", XMSDate: date},
			date + "\n/devstoreaccount1/devstoreaccount1/Tables",
			"0t5frBDAHUb3TEbAMT7v9wwgj+L4V00scNDQC6plt2w=",
		},
		{
			"host style with comp, the only query parameter that is signed", sharedkey.SharedKey,
			sharedkey.Request{Method: "GET", Path: "/mytable", RawQuery: "timeout=30&comp=acl&restype=x", Date: date},
			"GET\n\n\n" + date + "\n/devstoreaccount1/mytable?comp=acl",
			"h9ySADgPFU9xpiLszTvAsWZyl+05ZxvbuIIxDpkRZ0Y=",
		},
		{
			"a point query, quotes and parentheses raw", sharedkey.SharedKey,
			sharedkey.Request{Method: "GET", Path: "/devstoreaccount1/mytable(PartitionKey='p',RowKey='r')", XMSDate: date, Date: "ignored"},
			"GET\n\n\n" + date + "\n/devstoreaccount1/devstoreaccount1/mytable(PartitionKey='p',RowKey='r')",
			"4zYJXc59qi9LyMb8Xvhjhd7ORcyqIqCqUMv8Hjf2fDk=",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := key(t, keyText)
			if got := sharedkey.StringToSign(tt.scheme, account, tt.req); got != tt.sts {
				t.Errorf("StringToSign\n got %q\nwant %q", got, tt.sts)
			}
			if got := k.Sign(tt.sts); got != tt.signature {
				t.Errorf("signature\n got %s\nwant %s", got, tt.signature)
			}
			header := tt.scheme.String() + " " + account + ":" + tt.signature
			if got := k.Authorization(tt.scheme, account, tt.req); got != header {
				t.Errorf("authorization\n got %s\nwant %s", got, header)
			}
			if err := emulator(t).Verify(parse(t, header), tt.req, now, sharedkey.MaxSkew); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStringToSignDetails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		req  sharedkey.Request
		want string
	}{
		{"everything in its line", sharedkey.Request{Method: "PUT", ContentMD5: "md5==", ContentType: "a/b", Date: "d", Path: "/t"}, "PUT\nmd5==\na/b\nd\n/acct/t"},
		{"the root: an empty path is a slash", sharedkey.Request{Method: "GET", Date: "d", RawQuery: "restype=service&comp=properties"}, "GET\n\n\nd\n/acct/?comp=properties"},
		{"x-ms-date replaces Date", sharedkey.Request{Method: "GET", Date: "d", XMSDate: "x", Path: "/t"}, "GET\n\n\nx\n/acct/t"},
		{"escapes and double slashes stay", sharedkey.Request{Method: "GET", Date: "d", Path: "//t%28%2f%25%27"}, "GET\n\n\nd\n/acct//t%28%2f%25%27"},
		{"the value of comp is signed decoded", sharedkey.Request{Method: "GET", Date: "d", Path: "/t", RawQuery: "Comp=%61cl%zz+"}, "GET\n\n\nd\n/acct/t?comp=acl%zz "},
		{"nor is a name in escapes another name", sharedkey.Request{Method: "GET", Date: "d", Path: "/t", RawQuery: "x=%zz&%63omp=acl"}, "GET\n\n\nd\n/acct/t?comp=acl"},
		{"compx is not comp", sharedkey.Request{Method: "GET", Date: "d", Path: "/t", RawQuery: "compx=acl"}, "GET\n\n\nd\n/acct/t"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := sharedkey.StringToSign(sharedkey.SharedKey, "acct", tt.req); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseAuthorization(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, header string
		want         string // printed credential, "" for Malformed
	}{
		{"SharedKey", "SharedKey acct:c2ln", "SharedKey acct:(withheld)"},
		{"Lite", "SharedKeyLite acct:c2ln", "SharedKeyLite acct:(withheld)"},
		{"schemes are case-insensitive in HTTP", "sharedkeylite acct:c2ln", "SharedKeyLite acct:(withheld)"},
		{"a signature that is not base64 is a wrong one, not a malformed header", "SharedKey acct:!!", "SharedKey acct:(withheld)"},
		{"no header", "", ""},
		{"no blank", "SharedKeyacct:c2ln", ""},
		{"no colon", "SharedKey acct", ""},
		{"no account", "SharedKey :c2ln", ""},
		{"no signature", "SharedKey acct:", ""},
		{"unknown scheme", "Basic acct:c2ln", ""},
		{"a longer name is another scheme", "SharedKeyLiter acct:c2ln", ""},
		{"blank in the account", "SharedKey ac ct:c2ln", ""},
		{"control character", "SharedKey acct:c2\x00ln", ""},
		{"not ASCII", "SharedKey acçt:c2ln", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := sharedkey.ParseAuthorization(tt.header)
			if tt.want == "" {
				if !errors.Is(err, sharedkey.Malformed) {
					t.Fatalf("got %v, %v, want Malformed", c, err)
				}
				return
			}
			if got := c.String(); err != nil || got != tt.want {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

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
		want   sharedkey.Reason // 0: authenticated
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

// TestDetail checks the detail of a refusal, which is for the developer of the
// client: it is useful, has no secrets and is bounded.
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

func TestKey(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "not base64!", "AAA"} {
		if _, err := sharedkey.ParseKey(text); !errors.Is(err, sharedkey.ErrKey) {
			t.Errorf("%q: got %v, want ErrKey", text, err)
		}
	}
	a := emulator(t)
	cred := parse(t, "SharedKey acct:c2VjcmV0")
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		got := fmt.Sprintf(format, a.Keys[0]) + fmt.Sprintf(format, *a) + fmt.Sprintf(format, cred)
		for _, secret := range []string{"Eby8", "\x11\xbc", "c2VjcmV0"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s prints a secret: %s", format, got)
			}
		}
	}
	secret := []byte("secret")
	k, err := sharedkey.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	secret[0] = 'S' // before the key made its first HMAC state
	if k.Sign("x") != key(t, "c2VjcmV0").Sign("x") {
		t.Error("the key changed with the caller's slice")
	}
}

// TestConcurrentUse checks that pooled state does not leak from one signature
// into another.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	a := emulator(t)
	done := make(chan error)
	for g := range 8 {
		go func() {
			var failed error
			for i := range 200 {
				req := sharedkey.Request{Method: "GET", Path: fmt.Sprintf("/t%d/%s", g, strings.Repeat("x", i*60)), XMSDate: date}
				cred, err := sharedkey.ParseAuthorization(a.Keys[0].Authorization(sharedkey.SharedKey, account, req))
				if err == nil {
					err = a.Verify(cred, req, now, sharedkey.MaxSkew)
				}
				if err != nil {
					failed = err
				}
			}
			done <- failed
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

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

// TestVectors checks that this package makes the same signatures as other implementations, for the emulator account.
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
		want         string // the printed credential; "" if ParseAuthorization must return the error Malformed
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

func TestKey(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "not base64!", "AAA", "AAAA!"} {
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
	secret[0] = 'S' // changes the slice that NewKey got; the key must not change, because NewKey copies the slice
	if k.Sign("x") != key(t, "c2VjcmV0").Sign("x") {
		t.Error("the key changed with the caller's slice")
	}
}

// TestConcurrentUse checks that signatures made concurrently do not affect each other through reused memory.
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

package sas_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// inside is a helper that returns a context for Verify: the time, address and protocol of a request. Every recorded
// token permits a request with this context.
func inside(t testing.TB) sas.Context {
	t.Helper()
	return sas.Context{Now: at(t, "2026-06-27T15:25:14Z"), Source: netip.MustParseAddr("168.1.5.65"), HTTPS: true}
}

func codeOf(err error) table.Code {
	var e *table.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// sign makes a token without package sas, so that a test can sign values that Sign refuses. The values are signed and
// sent exactly as given.
func sign(t testing.TB, k *sharedkey.Key, query string, lines ...string) string {
	t.Helper()
	return query + "&sig=" + strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(k.SignLines(lines))
}

// tableLines returns the lines of a table SAS without a range.
func tableLines(sp, st, se, si, sip, spr string) []string {
	return []string{sp, st, se, "/table/" + account + "/mytable", si, sip, spr, "2019-02-02", "", "", "", ""}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	k := testKey(t, keyText)
	const q = "sv=2019-02-02&tn=mytable"
	later, earlier := at(t, "2030-01-01"), at(t, "2020-01-01")
	policies := map[string]*sas.Policy{
		"all":     {ID: "all", Start: &earlier, Expiry: &later, Permissions: "r"},
		"expiry":  {ID: "expiry", Expiry: &later},
		"letters": {ID: "letters", Permissions: "r"},
		"future":  {ID: "future", Start: &later, Expiry: &later, Permissions: "r"},
		"empty":   {ID: "empty"},
	}
	const se = "2030-01-01T00:00:00Z"
	for _, tt := range []struct {
		name  string
		query string
		edit  func(*sas.Context)
		code  table.Code // "" if Verify must accept the token; otherwise the code of the expected error
		says  string
	}{
		{"valid", sign(t, k, q+"&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), nil, "", ""},
		{"names in any case, also escaped", strings.Replace(sign(t, k, "SV=2019-02-02&%54n=mytable&sp=r&Se="+se, tableLines("r", "", se, "", "", "")...), "sig", "SIG", 1), nil, "", ""},
		{"an empty value is as good as none", sign(t, k, q+"&sp=r&st=&spk=&si=&ss=&se="+se, tableLines("r", "", se, "", "", "")...), nil, "", ""},
		{"other parameters are left alone", sign(t, k, "%24filter=a%zz&"+q+"&sp=r&timeout=3&%24filter=&se="+se, tableLines("r", "", se, "", "", "")...), nil, "", ""},

		{"no version", sign(t, k, "tn=mytable&sp=r&se="+se), nil, table.AuthenticationFailed, "the version sv"},
		{"a version that is no date", sign(t, k, "sv=2019-2-2&tn=mytable&sp=r&se="+se), nil, table.AuthenticationFailed, "the version sv"},
		{"before there were signatures for tables", sign(t, k, "sv=2011-08-18&tn=mytable&sp=r&se="+se), nil, table.AuthenticationFailed, "2012-02-12"},
		{"before there were account SAS", sign(t, k, "sv=2013-08-15&ss=t&srt=o&sp=r&se="+se), nil, table.AuthenticationFailed, "2015-04-05"},
		{"before there were delegations for tables", sign(t, k, "sv=2020-12-06&tn=t&skoid=a&sp=r&se="+se), nil, table.AuthenticationFailed, "2025-07-05"},
		{"no table", sign(t, k, "sv=2019-02-02&sp=r&se="+se), nil, table.AuthenticationFailed, "needs the parameter tn"},
		{"no permissions", sign(t, k, q+"&se="+se), nil, table.AuthenticationFailed, "needs the parameter sp"},
		{"no expiry", sign(t, k, q+"&sp=r"), nil, table.AuthenticationFailed, "needs the parameter se"},
		{"no resource types", sign(t, k, "sv=2019-02-02&ss=t&sp=r&se="+se), nil, table.AuthenticationFailed, "needs the parameter srt"},
		{"an unknown resource type", sign(t, k, "sv=2019-02-02&ss=t&srt=ox&sp=r&se="+se), nil, table.AuthenticationFailed, "srt must consist of the letters"},
		{"an unknown service", sign(t, k, "sv=2019-02-02&ss=tx&srt=o&sp=r&se="+se), nil, table.AuthenticationFailed, "ss must consist of the letters"},
		{"a policy does not restrict an account SAS", sign(t, k, "sv=2019-02-02&ss=t&srt=o&sp=r&si=all&se="+se), nil, table.AuthenticationFailed, "si is not part of an account SAS"},
		{"a range does not restrict an account SAS", sign(t, k, "sv=2019-02-02&ss=t&srt=o&sp=r&spk=a&se="+se), nil, table.AuthenticationFailed, "spk is not part of an account SAS"},
		{"addresses were not signed then", sign(t, k, "sv=2013-08-15&tn=mytable&sp=r&sip=1.2.3.4&se="+se), nil, table.AuthenticationFailed, "sip is not part of a table SAS of version 2013-08-15"},
		{"the scope was not signed then", sign(t, k, "sv=2019-02-02&ss=t&srt=o&sp=r&ses=x&se="+se), nil, table.AuthenticationFailed, "ses is not part"},
		{"a row without its partition", sign(t, k, q+"&sp=r&srk=a&se="+se), nil, table.AuthenticationFailed, "srk requires spk"},
		{"a last row without its partition", sign(t, k, q+"&sp=r&erk=a&se="+se), nil, table.AuthenticationFailed, "erk requires epk"},
		{"a parameter twice", sign(t, k, q+"&sp=r&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), nil, table.AuthenticationFailed, "sp occurs more than once in the query"},
		{"a parameter twice, in other letters", sign(t, k, q+"&sp=r&%53P=&se="+se, tableLines("r", "", se, "", "", "")...), nil, table.AuthenticationFailed, "more than once"},
		{"a broken escape", sign(t, k, q+"&sp=r%4&se="+se), nil, table.AuthenticationFailed, "sp has a broken percent-escape"},
		{"not UTF-8", sign(t, k, q+"&sp=%FF&se="+se), nil, table.AuthenticationFailed, "sp is not UTF-8"},
		{"a line feed, which would shift the lines", sign(t, k, q+"&sp=r%0A&se="+se, tableLines("r\n", "", se, "", "", "")...), nil, table.AuthenticationFailed, "sp contains a line feed"},
		{"overlong", sign(t, k, q+"&sp="+strings.Repeat("r", 513)+"&se="+se), nil, table.AuthenticationFailed, "sp is too long"},
		{"overlong before it is decoded", sign(t, k, q+"&sp=r&spk="+strings.Repeat("%61", 8<<10+1)+"&se="+se), nil, table.AuthenticationFailed, "spk is too long"},

		{"a foreign key", sign(t, testKey(t, "bm9ib2R5"), q+"&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), nil, table.AuthenticationFailed, `The string to sign of a table SAS of version 2019-02-02 is, with \n for a line feed: "r\n\n2030-01-01T00:00:00Z\n/table/devstoreaccount1/mytable\n\n\n\n2019-02-02\n\n\n\n".`},
		{"an empty signature", q + "&sp=r&sig=&se=" + se, nil, table.AuthenticationFailed, "needs the parameter sig"},
		{"a signature that is not base64", q + "&sp=r&sig=%00&se=" + se, nil, table.AuthenticationFailed, "no key of account"},
		{"the second key", sign(t, testKey(t, "c2Vjb25k"), q+"&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), nil, "", ""},
		{"the signature is judged before the time", sign(t, testKey(t, "bm9ib2R5"), q+"&sp=r&se=1999-01-01", tableLines("r", "", "1999-01-01", "", "", "")...), nil, table.AuthenticationFailed, "no key of account"},

		{"policy completes the token", sign(t, k, q+"&si=all", tableLines("", "", "", "all", "", "")...), nil, "", ""},
		{"policy has the expiry", sign(t, k, q+"&si=expiry&sp=r", tableLines("r", "", "", "expiry", "", "")...), nil, "", ""},
		{"policy has the permissions", sign(t, k, q+"&si=letters&se="+se, tableLines("", "", se, "letters", "", "")...), nil, "", ""},
		{"policy has nothing", sign(t, k, q+"&si=empty&sp=r&se="+se, tableLines("r", "", se, "empty", "", "")...), nil, "", ""},
		{"permissions nowhere", sign(t, k, q+"&si=expiry", tableLines("", "", "", "expiry", "", "")...), nil, table.AuthenticationFailed, "sp is neither"},
		{"expiry nowhere", sign(t, k, q+"&si=letters", tableLines("", "", "", "letters", "", "")...), nil, table.AuthenticationFailed, "se is neither"},
		{"permissions twice", sign(t, k, q+"&si=letters&sp=r&se="+se, tableLines("r", "", se, "letters", "", "")...), nil, table.AuthenticationFailed, "sp is in both the token and its stored access policy"},
		{"expiry twice", sign(t, k, q+"&si=expiry&sp=r&se="+se, tableLines("r", "", se, "expiry", "", "")...), nil, table.AuthenticationFailed, "se is in both the token and"},
		{"start twice", sign(t, k, q+"&si=all&st=2020-01-01", tableLines("", "2020-01-01", "", "all", "", "")...), nil, table.AuthenticationFailed, "st is in both the token and"},
		{"no such policy", sign(t, k, q+"&si=gone", tableLines("", "", "", "gone", "", "")...), nil, table.AuthenticationFailed, `no stored access policy "gone"`},
		{"nobody knows policies", sign(t, k, q+"&si=all", tableLines("", "", "", "all", "", "")...), func(c *sas.Context) { c.Policy = nil }, table.AuthenticationFailed, "no stored access policy"},
		{"the store failed", sign(t, k, q+"&si=all", tableLines("", "", "", "all", "", "")...), func(c *sas.Context) {
			c.Policy = func(string) (*sas.Policy, error) { return nil, table.OperationTimedOut.Err() }
		}, table.OperationTimedOut, ""},
		{"the start of the policy is to come", sign(t, k, q+"&si=future", tableLines("", "", "", "future", "", "")...), nil, table.AuthenticationFailed, "Start [2030-01-01T00:00:00Z]"},

		{"the first moment", sign(t, k, q+"&sp=r&st=2020-01-01&se="+se, tableLines("r", "2020-01-01", se, "", "", "")...), func(c *sas.Context) { c.Now = earlier }, "", ""},
		{"before it", sign(t, k, q+"&sp=r&st=2020-01-01&se="+se, tableLines("r", "2020-01-01", se, "", "", "")...), func(c *sas.Context) { c.Now = earlier - 1 }, table.AuthenticationFailed, "Current [2019-12-31T23:59:59.9999999Z]"},
		{"the last moment", sign(t, k, q+"&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), func(c *sas.Context) { c.Now = later }, "", ""},
		{"after it", sign(t, k, q+"&sp=r&se="+se, tableLines("r", "", se, "", "", "")...), func(c *sas.Context) { c.Now = later + 1 }, table.AuthenticationFailed, "Start [] - Expiry [2030-01-01T00:00:00Z]"},
		{"an expiry that is none", sign(t, k, q+"&sp=r&se=soon", tableLines("r", "", "soon", "", "", "")...), nil, table.AuthenticationFailed, `se is "soon"`},
		{"a start that is none", sign(t, k, q+"&sp=r&st=2020&se="+se, tableLines("r", "2020", se, "", "", "")...), nil, table.AuthenticationFailed, `st is "2020"`},

		{"the address", sign(t, k, q+"&sp=r&sip=168.1.5.65&se="+se, tableLines("r", "", se, "", "168.1.5.65", "")...), nil, "", ""},
		{"the address in IPv6 clothes", sign(t, k, q+"&sp=r&sip=168.1.5.65&se="+se, tableLines("r", "", se, "", "168.1.5.65", "")...), func(c *sas.Context) { c.Source = netip.MustParseAddr("::ffff:168.1.5.65") }, "", ""},
		{"the first of a range", sign(t, k, q+"&sp=r&sip=168.1.5.65-168.1.5.70&se="+se, tableLines("r", "", se, "", "168.1.5.65-168.1.5.70", "")...), nil, "", ""},
		{"behind a range", sign(t, k, q+"&sp=r&sip=168.1.5.60-168.1.5.64&se="+se, tableLines("r", "", se, "", "168.1.5.60-168.1.5.64", "")...), nil, table.AuthorizationSourceIPMismatch, "using this source IP 168.1.5.65."},
		{"IPv6 addresses", sign(t, k, q+"&sp=r&sip=fd00::1-fd00::ff&se="+se, tableLines("r", "", se, "", "fd00::1-fd00::ff", "")...), func(c *sas.Context) { c.Source = netip.MustParseAddr("fd00::7%eth0") }, "", ""},
		{"the other family", sign(t, k, q+"&sp=r&sip=::-ffff::&se="+se, tableLines("r", "", se, "", "::-ffff::", "")...), nil, table.AuthorizationSourceIPMismatch, "168.1.5.65"},
		{"an unknown address is not inside", sign(t, k, q+"&sp=r&sip=168.1.5.65&se="+se, tableLines("r", "", se, "", "168.1.5.65", "")...), func(c *sas.Context) { c.Source = netip.Addr{} }, table.AuthorizationSourceIPMismatch, "does not know"},
		{"a range turned round", sign(t, k, q+"&sp=r&sip=168.1.5.70-168.1.5.60&se="+se, tableLines("r", "", se, "", "168.1.5.70-168.1.5.60", "")...), nil, table.AuthenticationFailed, "sip must be an IP address"},
		{"a range of both families", sign(t, k, q+"&sp=r&sip=1.2.3.4-fd00::&se="+se, tableLines("r", "", se, "", "1.2.3.4-fd00::", "")...), nil, table.AuthenticationFailed, "sip must be an IP address"},
		{"no address", sign(t, k, q+"&sp=r&sip=168.1.5.0/24&se="+se, tableLines("r", "", se, "", "168.1.5.0/24", "")...), nil, table.AuthenticationFailed, "sip must be an IP address"},
		{"address before protocol", sign(t, k, q+"&sp=r&sip=1.2.3.4&spr=https&se="+se, tableLines("r", "", se, "", "1.2.3.4", "https")...), func(c *sas.Context) { c.HTTPS = false }, table.AuthorizationSourceIPMismatch, ""},
		{"https alone", sign(t, k, q+"&sp=r&spr=https&se="+se, tableLines("r", "", se, "", "", "https")...), nil, "", ""},
		{"https alone, over http", sign(t, k, q+"&sp=r&spr=https&se="+se, tableLines("r", "", se, "", "", "https")...), func(c *sas.Context) { c.HTTPS = false }, table.AuthorizationProtocolMismatch, "using this protocol"},
		{"both, over http", sign(t, k, q+"&sp=r&spr=https,http&se="+se, tableLines("r", "", se, "", "", "https,http")...), func(c *sas.Context) { c.HTTPS = false }, "", ""},
		{"http alone cannot be asked for", sign(t, k, q+"&sp=r&spr=http&se="+se, tableLines("r", "", se, "", "", "http")...), nil, table.AuthenticationFailed, "spr must be https or"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{testKey(t, keyText), testKey(t, "c2Vjb25k")}}
			c := inside(t)
			c.Policy = func(id string) (*sas.Policy, error) { return policies[id], nil }
			if tt.edit != nil {
				tt.edit(&c)
			}
			g, err := verify(t, tt.query, a, c)
			if codeOf(err) != tt.code || (err == nil) != (tt.code == "") || (g == nil) != (err != nil) {
				t.Fatalf("%v, want %q", err, tt.code)
			}
			if err == nil {
				return
			}
			if message := err.Error(); !strings.Contains(message, tt.says) || len(message) > 2200 {
				t.Errorf("message %q does not say %q", message, tt.says)
			}
			if _, signature, _ := strings.Cut(tt.query, "sig="); len(signature) > 8 && strings.Contains(err.Error(), signature[:8]) {
				t.Error("the message has the signature in it")
			}
		})
	}
}

// TestPolicyAfterSignature checks that Verify reads the policy only if the token names one and the signature is
// correct.
func TestPolicyAfterSignature(t *testing.T) {
	t.Parallel()
	c := inside(t)
	c.Policy = func(string) (*sas.Policy, error) {
		t.Error("Verify reads the policy")
		return nil, nil
	}
	for _, k := range []string{"bm9ib2R5", keyText} {
		query, err := sas.TableValues{Table: "mytable", Identifier: "id"}.Sign(account, testKey(t, k))
		if k == keyText { // a correct signature of a token that names no policy
			query, err = sas.TableValues{Table: "mytable", Permissions: "r", Expiry: "2030-01-01"}.Sign(account, testKey(t, k))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(t, query, emulator(t), c); (err == nil) != (k == keyText) {
			t.Error(err)
		}
	}
}

// TestNoSignature checks that a query without a signature has no token.
func TestNoSignature(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "&", "=", "sv=2019-02-02&tn=t", "sv=%zz&sv=1", "signature=x", "sig%=x", "si%6=x", "%24filter=sig"} {
		if token, err := sas.Parse(query); token != nil || err != nil {
			t.Errorf("%q: %v, %v", query, token, err)
		}
	}
}

// TestLongestKey checks that a key may have 8 KiB, even if each byte is percent-encoded, and no more.
func TestLongestKey(t *testing.T) {
	t.Parallel()
	const most = 8 << 10
	if _, err := sas.Parse("sv=2019-02-02&tn=t&sig=x&spk=" + strings.Repeat("%61", most)); err != nil {
		t.Errorf("the longest key: %v", err)
	}
	if _, err := sas.Parse("sv=2019-02-02&tn=t&sig=x&spk=" + strings.Repeat("%61", most+1)); codeOf(err) != table.AuthenticationFailed {
		t.Errorf("a longer one: %v", err)
	}
}

// TestNothingSecretIsPrinted checks that printing a token or delegation key omits the secret.
func TestNothingSecretIsPrinted(t *testing.T) {
	t.Parallel()
	token, err := sas.Parse("sv=2019-02-02&tn=t&sig=topsecret")
	if err != nil {
		t.Fatal(err)
	}
	if s := token.GoString(); s != token.String() || strings.Contains(s, "secret") || !strings.Contains(s, "table SAS 2019-02-02") {
		t.Error(s)
	}
}

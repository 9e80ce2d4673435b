package sas_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/sas"
)

// FuzzVerify checks arbitrary queries. Parse and Verify must not panic. They must grant nothing unless this test made
// the signature. Errors must have a code of the service, and be short and printable.
func FuzzVerify(f *testing.F) {
	_, queries := recorded(f)
	for _, query := range queries {
		f.Add(query)
	}
	for _, query := range []string{"sig=", "sig&sv=&tn", "%73ig=%zz", "sv=2019-02-02&ss=t&srt=o&sp=r&se=2030-01-01&sig=x", "sv=2026-04-06&tn=t&skoid=a&sktid=b&skt=2026-01-01&ske=2030-01-01&sks=t&skv=2026-04-06&sp=r&se=2030-01-01&sig=x"} {
		f.Add(query)
	}
	known := map[string]bool{}
	for _, query := range queries {
		known[signatureOf(query)] = true
	}
	a, c := emulator(f), inside(f)
	expiry := at(f, "2040-01-01")
	c.Policy = func(string) (*sas.Policy, error) { return &sas.Policy{Expiry: &expiry, Permissions: "raud"}, nil }
	f.Fuzz(func(t *testing.T, query string) {
		token, err := sas.Parse(query)
		if token == nil {
			if err != nil {
				checkError(t, err)
			}
			return
		}
		g, err := token.Verify(a, c)
		if err != nil {
			checkError(t, err)
			return
		}
		if !known[signatureOf(query)] {
			t.Fatalf("a grant for a signature that the test did not make: %q", query)
		}
		if rg := g.Range(); rg != nil && rg.Contains(key.Append(nil, "p", "r")) != (g.AllowEntity("p", "r") == nil) {
			t.Fatalf("%q: Range and AllowEntity differ", query)
		}
	})
}

// signatureOf returns the decoded signature of a query. The name of the parameter may be escaped.
func signatureOf(query string) string {
	unescape := func(s string) string {
		for i := 0; i+2 < len(s); i++ {
			if s[i] == '%' {
				hi, lo := strings.IndexByte("0123456789abcdef", s[i+1]|0x20), strings.IndexByte("0123456789abcdef", s[i+2]|0x20)
				if hi >= 0 && lo >= 0 {
					s = s[:i] + string(rune(hi<<4|lo)) + s[i+3:]
				}
			}
		}
		return s
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(unescape(name), "sig") {
			return unescape(value)
		}
	}
	return ""
}

func checkError(t *testing.T, err error) {
	t.Helper()
	code, message := codeOf(err), err.Error()
	if code == "" || len(message) > 2600 {
		t.Fatalf("code %q, message of %d bytes", code, len(message))
	}
	for i := range len(message) {
		if message[i] < ' ' || message[i] > '~' {
			t.Fatalf("message %q", message)
		}
	}
}

// FuzzSign checks that a signed token verifies and has all its values. If any parameter is changed, the token must
// not verify.
func FuzzSign(f *testing.F) {
	f.Add(uint8(0), "mytable", "raud", "id", "a", "b", "c", "d", uint16(3), byte('x'))
	f.Add(uint8(1), "T", "rl", "", "a/b", "", "", "", uint16(70), byte('%'))
	f.Add(uint8(2), "t1t", "r", "", "", "", "ü\U0001F600", "+ %", uint16(9), byte('+'))
	f.Add(uint8(3), "t1t", "r", "x\ny", "\xff", "", "", "", uint16(1), byte('&'))
	k := accountKey(f)
	d := delegate(f, sas.Contributor)
	c := inside(f)
	expiry, now := at(f, "2026-06-29"), at(f, "2026-06-28")
	c.Now = now
	versions := []string{"2012-02-12", "2015-02-21", "2015-04-05", "2019-02-02", "2020-12-06", "2026-06-06"}
	f.Fuzz(func(t *testing.T, kind uint8, tableName, permissions, id, spk, srk, epk, erk string, position uint16, to byte) {
		a, c := emulator(t), c
		policy := &sas.Policy{}
		if permissions == "" {
			policy.Permissions = "r" // the policy must have permissions, because the token has none
		}
		c.Policy = func(string) (*sas.Policy, error) { return policy, nil }
		version := versions[int(kind/3)%len(versions)]
		v := sas.TableValues{
			Version: version, Table: tableName, Permissions: permissions, Expiry: expiry.String(), Identifier: id,
			StartPartition: spk, StartRow: srk, EndPartition: epk, EndRow: erk,
		}
		var query string
		var err error
		switch kind % 3 {
		case 0:
			query, err = v.Sign(account, k)
		case 1:
			v.Version, v.Identifier = "", ""
			query, err = v.SignDelegated(account, d)
		case 2:
			query, err = sas.AccountValues{Version: version, ResourceTypes: id, Permissions: permissions, Expiry: expiry.String()}.Sign(account, k)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		token, err := sas.Parse(query)
		if err != nil || token == nil {
			t.Fatalf("own token %q: %v", query, err)
		}
		g, err := token.Verify(a, c)
		if err != nil {
			t.Fatalf("own token %q: %v", query, err)
		}
		if kind%3 != 2 {
			if got := token.Table(); !strings.EqualFold(got, tableName) {
				t.Fatalf("table %q of %q", got, tableName)
			}
			for _, e := range [][2]string{{"p", "r"}, {spk, srk}, {epk, erk}} {
				if key.Check(e[0]) == nil && key.Check(e[1]) == nil && (g.AllowEntity(e[0], e[1]) == nil) != inRange(v, e[0], e[1]) {
					t.Fatalf("%q: AllowEntity(%q)", query, e)
				}
			}
		}

		// A query with one changed byte must not verify, unless it decodes to the same values. This is possible if
		// the change affects only the case of an escape, of a parameter's name or of the table's name.
		b := []byte(query)
		b[int(position)%len(b)] = to
		changed := string(b)
		other, err := sas.Parse(changed)
		if err != nil || other == nil {
			return
		}
		if _, err := other.Verify(a, c); err == nil && !sameToken(token, other) {
			t.Fatalf("the signature of %q verifies %q", query, changed)
		}
		if _, err := token.Verify(a, sas.Context{Now: expiry + 1}); err == nil {
			t.Fatal("a token verifies after its expiry")
		}
	})
}

// sameToken reports whether two tokens have the same values.
func sameToken(a, b *sas.Token) bool { return sas.Said(a) == sas.Said(b) }

// FuzzParseTime checks that a parsed time is in range, and that its text parses to the same time.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2030-01-02", "2030-01-02T03:04Z", "2030-01-02T03:04:05.1234567+02:30", "1601-01-01", "9999-12-31T23:59:59.9999999Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ticks, err := sas.ParseTime(s)
		if err != nil {
			return
		}
		if ticks < edm.MinDateTime || ticks > edm.MaxDateTime {
			t.Fatalf("%q is %v", s, ticks)
		}
		if again, err := sas.ParseTime(string(sas.AppendTime(nil, ticks))); err != nil || again != ticks {
			t.Fatalf("%q: %v, again %v, %v", s, ticks, again, err)
		}
	})
}

package sas_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// lent is the request for a user delegation key that most tests send. The function Delegate sets the remaining fields.
var lent = sas.DelegationKey{
	ObjectID: "11111111-2222-3333-4444-555555555555",
	TenantID: "99999999-8888-7777-6666-555555555555",
	Start:    "2026-06-26T00:00:00Z",
	Expiry:   "2026-06-30T00:00:00Z",
	Version:  "2026-04-06",
}

func delegate(t testing.TB, role sas.Role) sas.DelegationKey {
	t.Helper()
	d, err := sas.Delegate(accountKey(t), account, role, lent, at(t, "2026-06-27T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDelegate(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-06-27T15:25:14.5Z")
	for _, tt := range []struct {
		name          string
		start, expiry string
		edit          func(*sas.DelegationKey)
		code          table.Code
		wantStart     string
		wantExpiry    string
	}{
		{"as asked", "2026-06-28T00:00:00Z", "2026-06-30T00:00:00Z", nil, "", "2026-06-28T00:00:00Z", "2026-06-30T00:00:00Z"},
		{"without start from now on", "", "2026-06-30T00:00:00Z", nil, "", "2026-06-27T15:25:14Z", "2026-06-30T00:00:00Z"},
		{"whole seconds, in UTC", "2026-06-27T00:00:00.999Z", "2026-06-30T02:00:00.1234567+02:00", nil, "", "2026-06-27T00:00:00Z", "2026-06-30T00:00:00Z"},
		{"seven days", "2026-06-27T15:25:14Z", "2026-07-04T15:25:14Z", nil, "", "2026-06-27T15:25:14Z", "2026-07-04T15:25:14Z"},
		{"longer than seven days", "2026-06-27T15:25:14Z", "2026-07-04T15:25:15Z", nil, table.OutOfRangeInput, "", ""},
		{"seven days and a part of a second", "2026-06-27T15:25:14Z", "2026-07-04T15:25:14.9Z", nil, "", "2026-06-27T15:25:14Z", "2026-07-04T15:25:14Z"},
		{"no time at all", "2026-06-29T00:00:00Z", "2026-06-29T00:00:00Z", nil, table.OutOfRangeInput, "", ""},
		{"turned round", "2026-06-30T00:00:00Z", "2026-06-29T00:00:00Z", nil, table.OutOfRangeInput, "", ""},
		{"over", "2026-06-26T00:00:00Z", "2026-06-27T00:00:00Z", nil, table.OutOfRangeInput, "", ""},
		{"no start", "soon", "2026-06-30T00:00:00Z", nil, table.InvalidXMLDocument, "", ""},
		{"no expiry", "", "", nil, table.InvalidXMLDocument, "", ""},
		{"no user", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.ObjectID = "" }, table.AuthorizationPermissionMismatch, "", ""},
		{"lines in the tenant", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.TenantID = "a\nb" }, table.AuthorizationPermissionMismatch, "", ""},
		{"a blank in the user", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.ObjectID = "a b" }, table.AuthorizationPermissionMismatch, "", ""},
		{"more than ASCII in the user", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.ObjectID = "é" }, table.AuthorizationPermissionMismatch, "", ""},
		{"a user longer than any", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.ObjectID = strings.Repeat("u", 513) }, table.AuthorizationPermissionMismatch, "", ""},
		{"no version", "", "2026-06-30T00:00:00Z", func(d *sas.DelegationKey) { d.Version = "" }, table.InvalidHeaderValue, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := lent
			want.Start, want.Expiry = tt.start, tt.expiry
			if tt.edit != nil {
				tt.edit(&want)
			}
			d, err := sas.Delegate(accountKey(t), account, sas.Contributor, want, now)
			if codeOf(err) != tt.code || (err == nil) != (tt.code == "") {
				t.Fatalf("%v, want %q", err, tt.code)
			}
			if err != nil {
				if d.Value != "" {
					t.Error("Delegate returns a value and an error")
				}
				return
			}
			if d.Start != tt.wantStart || d.Expiry != tt.wantExpiry || d.Service != "t" || d.ObjectID != lent.ObjectID {
				t.Errorf("%v", d)
			}
			if b, err := base64.StdEncoding.DecodeString(d.Value); err != nil || len(b) != 32 {
				t.Errorf("value of %d bytes: %v", len(b), err)
			}
			if s := d.GoString(); s != d.String() || strings.Contains(s, d.Value) || !strings.Contains(s, "delegation key of "+d.ObjectID) {
				t.Errorf("it is printed as %s", s)
			}
		})
	}
	if _, err := sas.Delegate(accountKey(t), account, 0, lent, now); err == nil {
		t.Error("a user without a role got a key")
	}
	if got := sas.Role(0).String(); got != "no role" {
		t.Errorf("no role is %q", got)
	}
}

// TestDelegateBounds checks the extreme values that Delegate accepts, and the nearest values that it refuses.
func TestDelegateBounds(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-06-27T00:00:00Z")
	for _, tt := range []struct {
		name string
		edit func(*sas.DelegationKey)
		code table.Code
	}{
		{"it ends now", func(d *sas.DelegationKey) { d.Expiry = "2026-06-27T00:00:00Z" }, table.OutOfRangeInput},
		{"it ends in a second", func(d *sas.DelegationKey) { d.Expiry = "2026-06-27T00:00:01Z" }, ""},
		{"it ends in seven days", func(d *sas.DelegationKey) { d.Expiry = "2026-07-04T00:00:00Z" }, ""},
		{"it ends a second later", func(d *sas.DelegationKey) { d.Expiry = "2026-07-04T00:00:01Z" }, table.OutOfRangeInput},
		{"the first and the last visible letter", func(d *sas.DelegationKey) { d.ObjectID = "!~" }, ""},
		{"the longest user", func(d *sas.DelegationKey) { d.ObjectID = strings.Repeat("u", 512) }, ""},
	} {
		want := lent
		tt.edit(&want)
		if _, err := sas.Delegate(accountKey(t), account, sas.Reader, want, now); codeOf(err) != tt.code || (err == nil) != (tt.code == "") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
	}
}

// TestDelegationKeysDiffer checks that the value of a delegation key depends on user, role, times, account and
// account key.
func TestDelegationKeysDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	add := func(what string, k *sharedkey.Key, account string, role sas.Role, edit func(*sas.DelegationKey)) {
		want := lent
		if edit != nil {
			edit(&want)
		}
		d, err := sas.Delegate(k, account, role, want, at(t, "2026-06-27T00:00:00Z"))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[d.Value]; ok {
			t.Errorf("%s: the same as %s", what, other)
		}
		seen[d.Value] = what
	}
	k := accountKey(t)
	add("contributor", k, account, sas.Contributor, nil)
	add("reader", k, account, sas.Reader, nil)
	add("another account", k, "other", sas.Contributor, nil)
	add("another account key", testKey(t, "c2Vjb25k"), account, sas.Contributor, nil)
	add("another user", k, account, sas.Contributor, func(d *sas.DelegationKey) { d.ObjectID = "x" })
	add("another tenant", k, account, sas.Contributor, func(d *sas.DelegationKey) { d.TenantID = "x" })
	add("another start", k, account, sas.Contributor, func(d *sas.DelegationKey) { d.Start = "2026-06-26T00:00:01Z" })
	add("another expiry", k, account, sas.Contributor, func(d *sas.DelegationKey) { d.Expiry = "2026-06-30T00:00:01Z" })
	add("another version", k, account, sas.Contributor, func(d *sas.DelegationKey) { d.Version = "2026-06-06" })
}

// TestDelegationLines checks that the StringToSign of a delegated token has the lines that the service's newest
// clients for tables sign.
func TestDelegationLines(t *testing.T) {
	t.Parallel()
	d := delegate(t, sas.Contributor)
	query, err := sas.TableValues{
		Table: "MyTable", Start: "2026-06-26", Expiry: "2026-06-29", Permissions: "ra", IP: "168.1.5.65", Protocol: "https",
		StartPartition: "a", StartRow: "1", EndPartition: "b", EndRow: "9",
	}.SignDelegated(account, d)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"ra", "2026-06-26", "2026-06-29", "/table/devstoreaccount1/mytable",
		d.ObjectID, d.TenantID, d.Start, d.Expiry, "t", "2026-04-06", "", "",
		"168.1.5.65", "https", "2025-07-05", "a", "1", "b", "9",
	}
	signature := strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(testKey(t, d.Value).SignLines(lines))
	want := "sv=2025-07-05&tn=MyTable&st=2026-06-26&se=2026-06-29&sp=ra&sip=168.1.5.65&spr=https&spk=a&srk=1&epk=b&erk=9" +
		"&skoid=" + d.ObjectID + "&sktid=" + d.TenantID + "&skt=2026-06-26T00%3A00%3A00Z&ske=2026-06-30T00%3A00%3A00Z&sks=t&skv=2026-04-06&sig=" + signature
	if query != want {
		t.Errorf("got  %s\nwant %s", query, want)
	}
}

func TestVerifyDelegation(t *testing.T) {
	t.Parallel()
	contributor, reader := delegate(t, sas.Contributor), delegate(t, sas.Reader)
	v := sas.TableValues{Table: "mytable", Permissions: "raud", Expiry: "2026-06-29T00:00:00Z"}
	for _, tt := range []struct {
		name   string
		values func(*sas.TableValues)
		d      sas.DelegationKey
		change func(query string) string
		edit   func(*sas.Context)
		code   table.Code
		says   string
		write  bool // whether the token permits an insert
	}{
		{"of a contributor", nil, contributor, nil, nil, "", "", true},
		{"of a reader, whatever the token says", nil, reader, nil, nil, "", "", false},
		{"the token outlives the key", func(v *sas.TableValues) { v.Expiry = "2026-06-30T00:00:01Z" }, contributor, nil, nil, table.AuthenticationFailed, "after its user delegation key", false},
		{"the token ends with the key", func(v *sas.TableValues) { v.Expiry = "2026-06-30T00:00:00Z" }, contributor, nil, nil, "", "", true},
		{"as the key begins", nil, contributor, nil, func(c *sas.Context) { c.Now = at(t, "2026-06-26T00:00:00Z") }, "", "", true},
		{"before the key", nil, contributor, nil, func(c *sas.Context) { c.Now = at(t, "2026-06-25T23:59:59Z") }, table.AuthenticationFailed, "the user delegation key is valid from", false},
		{"another user", nil, contributor, func(q string) string { return strings.Replace(q, "skoid=1", "skoid=2", 1) }, nil, table.AuthenticationFailed, "no key of account", false},
		{"a longer key", nil, contributor, func(q string) string { return strings.Replace(q, "ske=2026-06-30", "ske=2027-06-30", 1) }, nil, table.AuthenticationFailed, "no key of account", false},
		{"another service", nil, contributor, func(q string) string { return strings.Replace(q, "sks=t", "sks=b", 1) }, nil, table.AuthenticationFailed, "no key of account", false},
		{"for one user, who cannot be known", nil, contributor, func(q string) string { return q + "&sduoid=x" }, nil, table.AuthenticationFailed, "not supported", false},
		{"for a user of one tenant", nil, contributor, func(q string) string { return q + "&skdutid=x" }, nil, table.AuthenticationFailed, "not supported", false},
		{"with a policy", nil, contributor, func(q string) string { return q + "&si=x" }, nil, table.AuthenticationFailed, "si is not part", false},
		{"without the user", nil, contributor, func(q string) string { return strings.Replace(q, "skoid", "x", 1) }, nil, table.AuthenticationFailed, "needs the parameter skoid", false},
		{"from elsewhere", func(v *sas.TableValues) { v.IP = "1.2.3.4" }, contributor, nil, nil, table.AuthorizationSourceIPMismatch, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, c := v, inside(t)
			if tt.values != nil {
				tt.values(&v)
			}
			if tt.edit != nil {
				tt.edit(&c)
			}
			query, err := v.SignDelegated(account, tt.d)
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				query = tt.change(query)
			}
			g, err := verify(t, query, emulator(t), c)
			if codeOf(err) != tt.code || (err == nil) != (tt.code == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%v, want %q %q", err, tt.code, tt.says)
			}
			if err != nil {
				return
			}
			if err := g.Allow(sas.QueryEntities, "mytable"); err != nil {
				t.Error(err)
			}
			if err := g.Allow(sas.InsertEntity, "mytable"); (err == nil) != tt.write || !tt.write && codeOf(err) != table.AuthorizationPermissionMismatch {
				t.Errorf("insert: %v", err)
			}
			if err := g.Allow(sas.QueryTables, ""); codeOf(err) != table.AuthorizationFailure {
				t.Errorf("list tables: %v", err)
			}
		})
	}
}

// TestDelegationWithoutTheLetter checks that a token without a letter in sp does not grant the permission, even if
// the user's role has it.
func TestDelegationWithoutTheLetter(t *testing.T) {
	t.Parallel()
	for _, role := range []sas.Role{sas.Reader, sas.Contributor} {
		query, err := sas.TableValues{Table: "mytable", Permissions: "aud", Expiry: "2026-06-29T00:00:00Z"}.SignDelegated(account, delegate(t, role))
		if err != nil {
			t.Fatal(err)
		}
		g, err := verify(t, query, emulator(t), inside(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Allow(sas.QueryEntities, "mytable"); codeOf(err) != table.AuthorizationPermissionMismatch {
			t.Errorf("%v, without r, reads: %v", role, err)
		}
		if err := g.Allow(sas.DeleteEntity, "mytable"); (err == nil) != (role == sas.Contributor) {
			t.Errorf("%v, with d, deletes: %v", role, err)
		}
	}
}

// TestDelegationUsesTheKey checks which account key Verify marks as used for a delegated token. It must be the
// account key from which the delegation key was derived.
func TestDelegationUsesTheKey(t *testing.T) {
	t.Parallel()
	a := emulator(t)
	query, err := sas.TableValues{Table: "mytable", Permissions: "r", Expiry: "2026-06-29T00:00:00Z"}.SignDelegated(account, delegate(t, sas.Reader))
	if err != nil {
		t.Fatal(err)
	}
	a.Keys[0].TakeUsed()
	if _, err := verify(t, query, a, inside(t)); err != nil || !a.Keys[0].TakeUsed() {
		t.Errorf("%v, and no key was used", err)
	}
}

// TestDelegationOfTheSecondKey checks a token signed with a delegation key that was derived from the second key of the
// account. The token must be valid. If the account no longer has this second key, the token must be invalid.
func TestDelegationOfTheSecondKey(t *testing.T) {
	t.Parallel()
	second := testKey(t, "c2Vjb25k")
	d, err := sas.Delegate(second, account, sas.Reader, lent, at(t, "2026-06-27T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	query, err := sas.TableValues{Table: "mytable", Permissions: "r", Expiry: "2026-06-29"}.SignDelegated(account, d)
	if err != nil {
		t.Fatal(err)
	}
	both := &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{accountKey(t), second}}
	if _, err := verify(t, query, both, inside(t)); err != nil {
		t.Error(err)
	}
	if _, err := verify(t, query, emulator(t), inside(t)); codeOf(err) != table.AuthenticationFailed {
		t.Errorf("after the key was changed: %v", err)
	}
}

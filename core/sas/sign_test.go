package sas_test

import (
	"strings"
	"testing"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

func TestSign(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values interface {
			signed(testing.TB) (string, error)
		}
		want string // the query without its signature
	}{
		{"a table", ofTable{Table: "MyTable", Expiry: "2030-01-01T00:00:00Z", Permissions: "raud"},
			"sv=2019-02-02&tn=MyTable&se=2030-01-01T00%3A00%3A00Z&sp=raud"},
		{"all of a table", ofTable{Version: "2018-03-28", Table: "t1t", Identifier: "id/1", Start: "2020-01-01", Expiry: "2030-01-01", Permissions: "r",
			IP: "1.2.3.4-1.2.3.5", Protocol: "https,http", StartPartition: "a b+c", StartRow: "ü&=", EndPartition: "~", EndRow: "/"},
			"sv=2018-03-28&tn=t1t&st=2020-01-01&se=2030-01-01&sp=r&si=id%2F1&sip=1.2.3.4-1.2.3.5&spr=https%2Chttp&spk=a%20b%2Bc&srk=%C3%BC%26%3D&epk=~&erk=%2F"},
		{"a table by policy", ofTable{Table: "t1t", Identifier: "id"}, "sv=2019-02-02&tn=t1t&si=id"},
		{"the oldest", ofTable{Version: "2012-02-12", Table: "t1t", Identifier: "id"}, "sv=2012-02-12&tn=t1t&si=id"},
		{"an account", ofAccount{ResourceTypes: "sco", Expiry: "2030-01-01", Permissions: "rl"}, "sv=2019-02-02&ss=t&srt=sco&se=2030-01-01&sp=rl"},
		{"all of an account", ofAccount{Version: "2020-12-06", Services: "bt", ResourceTypes: "o", Start: "2020-01-01", Expiry: "2030-01-01", Permissions: "r", IP: "fd00::1", Protocol: "https"},
			"sv=2020-12-06&ss=bt&srt=o&st=2020-01-01&se=2030-01-01&sp=r&sip=fd00%3A%3A1&spr=https"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			query, err := tt.values.signed(t)
			if err != nil {
				t.Fatal(err)
			}
			got, signature, _ := strings.Cut(query, "&sig=")
			if got != tt.want || signature == "" {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestSignRefuses checks that Sign refuses values that no server accepts.
func TestSignRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values interface {
			signed(testing.TB) (string, error)
		}
		says string
	}{
		{"no table", ofTable{Expiry: "2030-01-01", Permissions: "r"}, "parameter tn"},
		{"no permissions", ofTable{Table: "t1t", Expiry: "2030-01-01"}, "parameter sp"},
		{"a time that is none", ofTable{Table: "t1t", Expiry: "tomorrow", Permissions: "r"}, "se is"},
		{"a start that is none", ofTable{Table: "t1t", Start: "now", Expiry: "2030-01-01", Permissions: "r"}, "st is"},
		{"addresses that are none", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "localhost"}, "sip must be"},
		{"http alone", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", Protocol: "http"}, "spr must be"},
		{"a row without its partition", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartRow: "a"}, "srk requires spk"},
		{"a line feed", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartPartition: "a\nb"}, "spk contains a line feed"},
		{"not UTF-8", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartPartition: "\xff"}, "spk is not UTF-8"},
		{"addresses, too early", ofTable{Version: "2013-08-15", Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "1.2.3.4"}, "sip is not part"},
		{"an address with a zone", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "fe80::1%eth0-fe80::2"}, "sip must be"},
		{"a last address with a zone", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "fe80::1-fe80::2%eth0"}, "sip must be"},
		{"no first address", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "x-::1"}, "sip must be"},
		{"no last address", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "::1-x"}, "sip must be"},
		{"a line feed at once", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartPartition: "\n"}, "spk contains a line feed"},
		{"a key longer than any", ofTable{Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartPartition: strings.Repeat("k", 8<<10+1)}, "spk is too long"},
		{"an offset for a sign", ofTable{Table: "t1t", Expiry: "2030-01-01T00:00:00*00:00", Permissions: "r"}, "se is"},
		{"slashes in the version", ofTable{Version: "2019/02-02", Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}, "the version sv"},
		{"a slash for a digit", ofTable{Version: "2019-0/-02", Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}, "the version sv"},
		{"a colon for a digit", ofTable{Version: "2019-0:-02", Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}, "the version sv"},
		{"no version", ofTable{Version: "latest", Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}, "the version sv"},
		{"no resource types", ofAccount{Expiry: "2030-01-01", Permissions: "r"}, "parameter srt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			query, err := tt.values.signed(t)
			if query != "" || codeOf(err) != table.AuthenticationFailed || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q, %v, want %q", query, err, tt.says)
			}
		})
	}
	if _, err := (sas.TableValues{Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}).SignDelegated(account, lent); err == nil {
		t.Error("SignDelegated accepts a delegation key without value")
	}
	broken := delegate(t, sas.Reader)
	broken.Value = "!"
	if _, err := (sas.TableValues{Table: "t1t", Expiry: "2030-01-01", Permissions: "r"}).SignDelegated(account, broken); err != sharedkey.ErrKey {
		t.Errorf("a value that is no key: %v", err)
	}
	for what, v := range map[string]ofTable{
		"the longest key":                {Table: "t1t", Expiry: "2030-01-01", Permissions: "r", StartPartition: strings.Repeat("k", 8<<10)},
		"the first version with origins": {Version: "2015-04-05", Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "1.2.3.4"},
		"a range of one address":         {Table: "t1t", Expiry: "2030-01-01", Permissions: "r", IP: "1.2.3.4-1.2.3.4"},
	} {
		if _, err := v.signed(t); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

type (
	ofTable   sas.TableValues
	ofAccount sas.AccountValues
)

func (v ofTable) signed(t testing.TB) (string, error) {
	return sas.TableValues(v).Sign(account, accountKey(t))
}

func (v ofAccount) signed(t testing.TB) (string, error) {
	return sas.AccountValues(v).Sign(account, accountKey(t))
}

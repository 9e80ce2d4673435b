package sas_test

import (
	"testing"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
)

// BenchmarkVerify parses and verifies the credentials of one request. Package sharedkey has the same benchmark for
// its signatures.
func BenchmarkVerify(b *testing.B) {
	a := &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{accountKey(b), testKey(b, "c2Vjb25kYXJ5IGtleSBvZiB0aGUgYWNjb3VudA==")}}
	c := inside(b)
	values := sas.TableValues{Table: "mytable", Expiry: "2026-06-29T00:00:00Z", Permissions: "raud"}
	ranged := values
	ranged.StartPartition, ranged.StartRow, ranged.EndPartition, ranged.EndRow = "0123456789abcdef", "0", "0123456789abcdef", "9"
	ranged.Start, ranged.IP, ranged.Protocol = "2020-01-01T00:00:00Z", "168.1.5.60-168.1.5.70", "https"
	signed := func(query string, err error) string {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return query + "&timeout=30"
	}
	for _, bb := range []struct {
		name, query string
		ok          bool
	}{
		{"Table", signed(values.Sign(account, a.Keys[0])), true},
		{"TableRange", signed(ranged.Sign(account, a.Keys[0])), true},
		{"SecondKey", signed(values.Sign(account, a.Keys[1])), true},
		{"Account", signed(sas.AccountValues{ResourceTypes: "sco", Expiry: "2026-06-29T00:00:00Z", Permissions: "rwdlacu"}.Sign(account, a.Keys[0])), true},
		{"Delegation", signed(values.SignDelegated(account, delegate(b, sas.Contributor))), true},
		{"Refused", signed(values.Sign(account, testKey(b, "bm9ib2R5"))), false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				token, err := sas.Parse(bb.query)
				if err != nil {
					b.Fatal(err)
				}
				g, err := token.Verify(a, c)
				if (err == nil) != bb.ok {
					b.Fatal(err)
				}
				if err == nil && g.Allow(sas.QueryEntities, "mytable") != nil {
					b.Fatal("not allowed")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, query string }{
		{"NoToken", "%24format=application%2Fjson%3Bodata%3Dminimalmetadata&timeout=30"},
		{"Plain", "sv=2019-02-02&tn=mytable&se=2030-01-01T00:00:00Z&sp=raud&sig=VH1kJ2dMcGJPJnFMefVZ3HMd1fedSci/031kWIgJz0w="},
		{"Escaped", "sv=2019-02-02&tn=mytable&se=2030-01-01T00%3A00%3A00Z&sp=raud&sig=VH1kJ2dMcGJPJnFMefVZ3HMd1fedSci%2F031kWIgJz0w%3D"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sas.Parse(bb.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

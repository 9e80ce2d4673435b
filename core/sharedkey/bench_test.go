package sharedkey_test

import (
	"testing"

	"edgetable/core/sharedkey"
)

func BenchmarkVerify(b *testing.B) {
	const second = "c2Vjb25kYXJ5IGtleSBvZiB0aGUgYWNjb3VudA=="
	a := &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{key(b, keyText), key(b, second)}}
	req := sharedkey.Request{
		Method: "GET", Path: "/devstoreaccount1/mytable(PartitionKey='0123456789abcdef',RowKey='0123456789abcdef')",
		RawQuery: "%24format=application%2Fjson%3Bodata%3Dminimalmetadata&timeout=30", XMSDate: date,
	}
	foreign := key(b, "bm9ib2R5")
	for _, bb := range []struct {
		name   string
		scheme sharedkey.Scheme
		key    *sharedkey.Key
		ok     bool
	}{
		{"SharedKey", sharedkey.SharedKey, a.Keys[0], true},
		{"Lite", sharedkey.SharedKeyLite, a.Keys[0], true},
		{"SecondKey", sharedkey.SharedKeyLite, a.Keys[1], true},
		{"Refused", sharedkey.SharedKeyLite, foreign, false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			header := bb.key.Authorization(bb.scheme, account, req)
			b.ReportAllocs()
			for b.Loop() {
				cred, err := sharedkey.ParseAuthorization(header)
				if err != nil {
					b.Fatal(err)
				}
				if err := a.Verify(cred, req, now, sharedkey.MaxSkew); (err == nil) != bb.ok {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAuthorization(b *testing.B) {
	k := key(b, keyText)
	req := sharedkey.Request{Method: "POST", Path: "/devstoreaccount1/mytable", ContentType: "application/json", XMSDate: date}
	b.ReportAllocs()
	for b.Loop() {
		if k.Authorization(sharedkey.SharedKey, account, req) == "" {
			b.Fatal("no header")
		}
	}
}

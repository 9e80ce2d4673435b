package sas_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
)

// The well-known key of the emulator account, public by design.
const (
	account = "devstoreaccount1"
	keyText = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

func testKey(t testing.TB, text string) *sharedkey.Key {
	t.Helper()
	k, err := sharedkey.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func emulator(t testing.TB) *sharedkey.Account {
	t.Helper()
	return &sharedkey.Account{Name: account, Keys: [2]*sharedkey.Key{accountKey(t)}}
}

func at(t testing.TB, s string) edm.Ticks {
	t.Helper()
	ticks, err := sas.ParseTime(s)
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

// TestVectors checks that this package makes the same signatures as other implementations, with the key of the
// emulator account.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, query string }{
		{"a table, no range", "sv=2019-02-02&tn=mytable&sp=raud&se=2030-01-01T00:00:00Z&sig=VH1kJ2dMcGJPJnFMefVZ3HMd1fedSci/031kWIgJz0w="},
		{"everything a table SAS may have", "sv=2019-02-02&tn=MyTable&sp=r&st=2020-01-01T00:00:00Z&se=2030-01-01T00:00:00Z&sip=168.1.5.60-168.1.5.70&spr=https,http&spk=a&srk=1&epk=b&erk=9&sig=x4zuakaT9Lrn1j5Asah%2B4CZnJnzx5Ojnghnt2CoEwfk%3D"},
		{"before the service was part of the resource", "sv=2013-08-15&tn=mytable&sp=r&se=2030-01-01T00%3A00%3A00Z&sig=c00v2CQEAVbFrIq2ft%2BGYjp3%2FUOs0dKAQ%2BX%2FKda%2FD3k%3D"},
		{"an account, ending in a line feed", "sv=2019-02-02&ss=t&srt=sco&sp=rwdlacu&se=2030-01-01T00:00:00Z&spr=https,http&sig=dKEa4zPUq/dWdOLrCYusn1Jnz45OJCCdBPi%2BhMWeijk="},
		{"an account, with the line of the encryption scope", "sv=2020-12-06&ss=t&srt=sco&sp=rwdlacu&se=2030-01-01T00:00:00Z&spr=https,http&sig=aQbb1uM9CNZPJhjuzMWpvrja5t6VW2FlvCUFVvjctAk="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token, err := sas.Parse(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := token.Verify(emulator(t), inside(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

func accountKey(t testing.TB) *sharedkey.Key {
	t.Helper()
	return testKey(t, keyText)
}

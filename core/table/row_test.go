package table_test

import (
	"errors"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestRow checks that a row can be read back, and that a value that is too short for a row is an error.
func TestRow(t *testing.T) {
	t.Parallel()
	k := key.Append(nil, "p", "r")
	for _, want := range []table.Row{
		{Key: k, Timestamp: 1, Nonce: 2, Properties: properties("A", 1, "B", 2)},
		{Key: k, Timestamp: edm.MaxDateTime, Nonce: 1<<64 - 1},
	} {
		stored := table.AppendRow([]byte("before"), &want)[len("before"):]
		got, err := table.ParseRow(k, stored)
		if err != nil || got.Timestamp != want.Timestamp || got.Nonce != want.Nonce || string(got.Key) != string(k) || string(got.Properties) != string(want.Properties) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, bit := range []byte{0x80, 0x40} { // one of the two bits that only a later version may use
		stored := table.AppendRow(nil, &table.Row{Timestamp: edm.MaxDateTime})
		if stored[0]&0xC0 != 0 {
			t.Errorf("the spare bits are in use: %x", stored)
		}
		stored[0] |= bit
		if row, err := table.ParseRow(k, stored); !errors.Is(err, table.ErrNewerForm) {
			t.Errorf("bit %x: %+v, %v", bit, row, err)
		}
	}
	for n := range 16 {
		if row, err := table.ParseRow(k, make([]byte, n)); err == nil {
			t.Errorf("%d bytes: %+v", n, row)
		}
	}
}

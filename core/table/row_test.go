package table_test

import (
	"testing"

	"edgetable/core/key"
	"edgetable/core/table"
)

// A row reads back as it was stored; a value too short for a row is damaged.
func TestRow(t *testing.T) {
	t.Parallel()
	k := key.Append(nil, "p", "r")
	for _, want := range []table.Row{
		{Key: k, Timestamp: 1, Nonce: 2, Properties: properties("A", 1, "B", 2)},
		{Key: k, Timestamp: 1<<62 + 5, Nonce: 1<<64 - 1},
	} {
		stored := table.AppendRow([]byte("before"), &want)[len("before"):]
		got, err := table.ParseRow(k, stored)
		if err != nil || got.Timestamp != want.Timestamp || got.Nonce != want.Nonce || string(got.Key) != string(k) || string(got.Properties) != string(want.Properties) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for n := range 16 {
		if row, err := table.ParseRow(k, make([]byte, n)); err == nil {
			t.Errorf("%d bytes: %+v", n, row)
		}
	}
}

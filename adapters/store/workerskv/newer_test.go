package workerskv

import (
	"errors"
	"testing"

	"edgetable/core/table"
)

// TestNewerRecord checks that a record is refused if one of the bytes that are reserved for later
// versions is not zero.
func TestNewerRecord(t *testing.T) {
	t.Parallel()
	r := table.Record{Key: table.RecordKey{Account: "acct", Table: "people"}, Incarnation: table.Incarnation{1}, Value: []byte("v")}
	body := encodeRecord(&r, 1)
	if _, err := decodeRecord(r.Key.String(), body); err != nil {
		t.Fatal(err)
	}
	for i := range recordReserved {
		newer := encodeRecord(&r, 1)
		newer[stampSize+1+incarnationSize+i] = 0x80
		if _, err := decodeRecord(r.Key.String(), newer); !errors.Is(err, errNewer) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

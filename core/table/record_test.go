package table_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"edgetable/core/table"
)

func TestRecordKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]table.RecordKey{
		"table/acct/people": {Account: "acct", Table: "people"},
		"settings/acct":     {Account: "acct"},
	} {
		if got, ok := table.ParseRecordKey(text); !ok || got != want || got.String() != text {
			t.Errorf("%s: parsed as %+v, %v, printed as %s", text, got, ok, got)
		}
	}
	for _, text := range []string{"", "table/", "table/acct", "table/acct/", "other/acct"} {
		if got, ok := table.ParseRecordKey(text); ok {
			t.Errorf("%q: parsed as %+v", text, got)
		}
	}
}

// The stored forms of records and revisions do not change.
func TestStoredRecord(t *testing.T) {
	t.Parallel()
	const text = "table/acct/people"
	key, _ := table.ParseRecordKey(text)
	r := table.Record{Key: key, Value: []byte("value"), Incarnation: table.Incarnation{1, 11: 12}}
	b := table.AppendRecord(nil, &r, 638_000_000_000_000_000)
	const want = "08daa19ea6b30000" + "01000000000000000000000c" + "00000000" + "76616c7565"
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("AppendRecord\n got %s\nwant %s", got, want)
	}
	r.Revision = "4ui04hsw5fy8"
	got, err := table.ParseRecord(text, b)
	if fmt.Sprint(got, err) != fmt.Sprint(r, nil) || got.Revision.Written() != 638_000_000_000_000_000 {
		t.Errorf("ParseRecord\n got %v, %v\nwant %v", got, err, r)
	}
	if got, err := table.ParseRecord(text, b[:23]); err == nil {
		t.Errorf("cut off: parsed as %v", got)
	}
	if got, err := table.ParseRecord(text, append(b[:23:23], 1)); !errors.Is(err, table.ErrNewerForm) {
		t.Errorf("with a spare byte: %v, %v", got, err)
	}
	if got := table.Revision("random-text").Written(); got != 0 {
		t.Errorf("Written of a foreign revision is %d", got)
	}
}

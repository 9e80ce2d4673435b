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

// TestStoredRecord checks that the stored form of records and revisions has not changed since earlier versions.
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
	if got, err := table.ParseRecord("other/acct", b); err == nil {
		t.Errorf("with a key that is none: parsed as %v", got)
	}
	for _, foreign := range []table.Revision{"", "random-text", "-1", "zzzzzzzzzzzzzzzzzzzz"} {
		if got := foreign.Written(); got != 0 {
			t.Errorf("Written of the foreign revision %q is %d", foreign, got)
		}
	}
}

// TestStoredTraits checks that the stored form of traits (declared options) has not changed since earlier versions,
// and that an unknown part of a later version is refused.
func TestStoredTraits(t *testing.T) {
	t.Parallel()
	const text = "table/acct/people"
	key, _ := table.ParseRecordKey(text)
	r := table.Record{Key: key, Value: []byte("value"), Incarnation: table.Incarnation{1, 11: 12}, Traits: &table.Traits{
		Expiry: &table.Expiry{Property: "E", After: 1, Since: 2},
		Ending: &table.Expiry{After: 3, Since: 4, Until: 5},
		Feed:   &table.Feed{Keep: 6},
	}}
	b := table.AppendRecord(nil, &r, 638_000_000_000_000_000)
	const head, value = "08daa19ea6b30000" + "01000000000000000000000c", "76616c7565"
	const expiry = "01" + "0019" + "0000000000000001" + "0000000000000002" + "0000000000000000" + "45"
	const ending = "02" + "0018" + "0000000000000003" + "0000000000000004" + "0000000000000005"
	const feed = "03" + "0008" + "0000000000000006"
	if got, want := hex.EncodeToString(b), head+"01000042"+expiry+ending+feed+value; got != want {
		t.Errorf("AppendRecord\n got %s\nwant %s", got, want)
	}
	got, err := table.ParseRecord(text, b)
	if err != nil || string(got.Value) != "value" || *got.Traits.Expiry != *r.Traits.Expiry || *got.Traits.Ending != *r.Traits.Ending || *got.Traits.Feed != *r.Traits.Feed {
		t.Errorf("ParseRecord: %+v, %v", got, err)
	}
	for _, tt := range []struct {
		why, traits string
		newer       bool
	}{
		{"a later form", "02000000", true},
		{"a later use of the second byte", "01010000", true},
		{"a part of a later version", "01000003" + "040000", true},
		{"a part without an end", "01000003" + "010019", false},
		{"a part without a name", "01000003" + "000000", true},
		{"half a feed", "01000009" + "030008" + "000000000000", false},
		{"a feed as long as a rule", "0100001b" + "030018" + "000000000000000100000000000000020000000000000003", false},
		{"half a part", "01000002" + "0100", false},
		{"a short part", "0100000b" + "010008" + "0000000000000001", false},
		{"a short feed", "0100000a" + "030007" + "00000000000000", false},
		{"longer than the record", "010000ff", false},
	} {
		b, err := hex.DecodeString(head + tt.traits)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := table.ParseRecord(text, b); err == nil || errors.Is(err, table.ErrNewerForm) != tt.newer {
			t.Errorf("%s: %+v, %v", tt.why, got, err)
		}
	}
}

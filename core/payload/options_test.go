package payload_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

const (
	hour = 3600 * edm.TicksPerSecond
	day  = 24 * hour
)

func TestReadOptions(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]table.Expiry{
		`{"expire":{"property":"E"}}`:                               {Property: "E"},
		`{"expire":{"property":"Ablauf\u0065"}}`:                    {Property: "Ablaufe"},
		` { "expire" : { "after" : "P30D" , "property" : "_x" } } `: {Property: "_x", After: 30 * day},
		`{"expire":{"after":"PT1S"}}`:                               {After: edm.TicksPerSecond},
		`{"expire":{"after":"P2W1DT1H2M3S"}}`:                       {After: 15*day + hour + 123*edm.TicksPerSecond},
		`{"expire":{"after":"P36500D","state":"active"}}`:           {After: 36500 * day},
		`{}`:                             {},
		`{"expire":null}`:                {},
		`{"ending":{"a":1,"until":"x"}}`: {},
		"\t{\r\n\"expire\" :\tnull\n}\n": {},
	} {
		got, err := payload.ReadOptions([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got.Expire == nil && want != (table.Expiry{}) || got.Expire != nil && *got.Expire != want {
			t.Errorf("%s: %+v, want %+v", body, got.Expire, want)
		}
	}
	for body, want := range map[string]edm.Ticks{
		`{"changes":{}}`: 7 * day,
		`{"changes":{"keep":"PT1H","state":"active"}}`: hour,
		`{"expire":null,"changes":{"keep":"P36500D"}}`: 36500 * day,
		`{"changes":null,"expire":{"after":"P1D"}}`:    0,
	} {
		got, err := payload.ReadOptions([]byte(body))
		if err != nil || (got.Changes == nil) != (want == 0) || want != 0 && got.Changes.Keep != want {
			t.Errorf("%s: %+v, %v, want %d", body, got.Changes, err, want)
		}
	}
	for body, path := range map[string]string{
		``:                                            "$",
		`[]`:                                          "$",
		`{`:                                           "$",
		`{"expire":{"property":"E"}`:                  "$",
		`{"expire":{"property":"E"}} x`:               "$",
		`{"expire":{"property":"E"},}`:                "$",
		`{"expire":{"property":"E"} "a":1}`:           "$",
		`{"expire":1}`:                                "$.expire",
		`{"expire":{}}`:                               "$.expire",
		`{"expire":{"property":1}}`:                   "$.expire.property",
		`{"expire":{"property":""}}`:                  "$.expire.property",
		`{"expire":{"property":"a b"}}`:               "$.expire.property",
		`{"expire":{"property":"Timestamp"}}`:         "$.expire.property",
		`{"expire":{"after":"P1M"}}`:                  "$.expire.after",
		`{"expire":{"after":"P"}}`:                    "$.expire.after",
		`{"expire":{"after":"PT"}}`:                   "$.expire.after",
		`{"expire":{"after":"P1DT"}}`:                 "$.expire.after",
		`{"expire":{"after":"PT0S"}}`:                 "$.expire.after",
		`{"expire":{"after":"P36500DT1S"}}`:           "$.expire.after",
		`{"expire":{"after":"P999999999999D"}}`:       "$.expire.after",
		`{"expire":{"after":"P1H"}}`:                  "$.expire.after",
		`{"expire":{"after":"PT1D"}}`:                 "$.expire.after",
		`{"expire":{"after":"PT1M1H"}}`:               "$.expire.after",
		`{"expire":{"after":"PT1.5H"}}`:               "$.expire.after",
		`{"expire":{"after":"-P1D"}}`:                 "$.expire.after",
		`{"expire":{"after":"P1D","after":"P1D"}}`:    "$.expire.after",
		`{"expire":{"seconds":5}}`:                    "$.expire.seconds",
		`{"changes":{"keep":"7d"}}`:                   "$.changes.keep",
		`{"changes":true}`:                            "$.changes",
		`{"changes":{"filter":"x"}}`:                  "$.changes.filter",
		`{"indexes":[]}`:                              "$.indexes",
		`{"webhooks":[]}`:                             "$.webhooks",
		`{"other":1}`:                                 "$.other",
		`{"ending":[]}`:                               "$.ending",
		`{"a":"` + strings.Repeat("x", 16<<10) + `"}`: "$",
	} {
		got, err := payload.ReadOptions([]byte(body))
		e, ok := errors.AsType[*table.Error](err)
		if !ok || e.Code != table.OptionsInvalid || !strings.Contains(e.Message, " "+path+": ") {
			t.Errorf("%.80s: %+v, %v, want OptionsInvalid at %s", body, got.Expire, err, path)
		}
	}
}

// TestAppendOptions checks the documents that AppendOptions writes, and that the options do not change if a client
// sends such a document back.
func TestAppendOptions(t *testing.T) {
	t.Parallel()
	now, _ := edm.ParseDateTime("2026-11-28T12:00:00Z")
	rule := table.Expiry{Property: "E", After: day + 90*edm.TicksPerSecond, Since: now - table.UndoTime/2}
	ending := table.Expiry{After: 14 * day, Since: 5, Until: now - hour}
	for _, tt := range []struct {
		traits *table.Traits
		at     edm.Ticks
		want   string
	}{
		{nil, now, `{}`},
		{&table.Traits{Expiry: &rule}, now, `{"expire":{"property":"E","after":"P1DT1M30S","state":"active","undoUntil":"2026-11-28T12:30:00Z"}}`},
		{&table.Traits{Expiry: &rule, Ending: &ending}, now + hour, `{"expire":{"property":"E","after":"P1DT1M30S","state":"active"},"ending":{"after":"P14D","until":"2026-11-28T11:00:00Z"}}`},
		{&table.Traits{Expiry: &rule, Feed: &table.Feed{Keep: 7 * day}}, now + hour, `{"expire":{"property":"E","after":"P1DT1M30S","state":"active"},"changes":{"keep":"P7D","state":"active"}}`},
		{&table.Traits{Ending: &ending}, now, `{"ending":{"after":"P14D","until":"2026-11-28T11:00:00Z"}}`},
	} {
		got := payload.AppendOptions(nil, tt.traits, tt.at)
		if string(got) != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		again, err := payload.ReadOptions(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
		} else if tt.traits == nil || tt.traits.Expiry == nil {
			if again.Expire != nil {
				t.Errorf("%s declares %+v", got, again.Expire)
			}
		} else if again.Expire.Property != rule.Property || again.Expire.After != rule.After {
			t.Errorf("%s declares %+v", got, again.Expire)
		}
		if tt.traits.Feeds() != (again.Changes != nil) || again.Changes != nil && *again.Changes != *tt.traits.Feed {
			t.Errorf("%s declares %+v", got, again.Changes)
		}
	}
}

// FuzzReadOptions checks that an accepted document declares the same options after it was written and read again.
func FuzzReadOptions(f *testing.F) {
	f.Add([]byte(`{"expire":{"property":"E","after":"P2W1DT1H2M3S"}}`))
	f.Add([]byte(`{"changes":{"keep":"PT1H"}}`))
	f.Add([]byte(`{"expire":null,"ending":{"after":"P1D","until":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := payload.ReadOptions(body)
		if err != nil {
			if e, ok := errors.AsType[*table.Error](err); !ok || e.Code != table.OptionsInvalid {
				t.Fatal(err)
			}
			return
		}
		text := payload.AppendOptions(nil, &table.Traits{Expiry: o.Expire, Feed: o.Changes}, 1<<60)
		again, err := payload.ReadOptions(text)
		if err != nil || (o.Expire == nil) != (again.Expire == nil) || o.Expire != nil && *o.Expire != *again.Expire ||
			(o.Changes == nil) != (again.Changes == nil) || o.Changes != nil && *o.Changes != *again.Changes {
			t.Fatalf("%s: %+v, written as %s: %+v, %v", body, o.Expire, text, again.Expire, err)
		}
	})
}

package explorer

import (
	"encoding/json"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
)

// ending is an expiry rule, with the times at which entities expire by this rule.
type ending struct {
	Expire string `json:"expire"` // the rule in the form of a table's options
	Good   bool   `json:"good"`   // package payload, which servers use, accepts the rule
	// Ends contains the expiry of entities, by the type of the entity's property E. All entities were written at the
	// same time (the constant in this file). An expiry is in ticks since 1970; "" means that the entity never expires.
	Ends map[string]string `json:"ends,omitempty"`
}

const (
	written = "2026-11-28T12:00:00.1234567Z"
	instant = "2026-12-01T00:00:00.5Z"
)

// endings returns examples of expiry rules, with the results of the server's code. The tests of the page compare
// these with the page's own results.
func endings(t *testing.T) []byte {
	t.Helper()
	at, _ := edm.ParseDateTime(written)
	date, _ := edm.ParseDateTime(instant)
	of := map[string]edm.Properties{
		"":         nil,
		"DateTime": edm.AppendProperty(nil, "E", edm.DateTime(date)),
		"String":   edm.AppendProperty(nil, "E", edm.String(instant)),
		"Int64":    edm.AppendProperty(nil, "E", edm.Int64(1)),
	}
	var all []ending
	for _, expire := range []string{
		`{}`, `null`, `1`, `[]`, `{"property":""}`, `{"property":1}`, `{"property":"E"}`, `{"property":"E","state":"active","undoUntil":"x"}`,
		`{"after":"PT1S"}`, `{"after":"P30D"}`, `{"property":"E","after":"P1DT30M"}`, `{"after":"P2W1DT1H2M3S"}`, `{"after":"P36500D"}`, `{"after":"PT876000H"}`,
		`{"after":""}`, `{"after":"P"}`, `{"after":"PT"}`, `{"after":"P1DT"}`, `{"after":"P1M"}`, `{"after":"P1Y"}`, `{"after":"P1H"}`, `{"after":"PT1D"}`,
		`{"after":"PT1M1H"}`, `{"after":"P1D1W"}`, `{"after":"PT1.5H"}`, `{"after":"-P1D"}`, `{"after":"PT0S"}`, `{"after":"P0D"}`, `{"after":"P36500DT1S"}`,
		`{"after":"P999999999999D"}`, `{"after":"P1234567890123D"}`, `{"after":"p1d"}`, `{"after":" P1D"}`, `{"after":"P1D "}`, `{"after":1}`,
		`{"after":"P0000000000001D"}`, `{"after":"P000000000001D"}`, `{"after":"P١D"}`,
	} {
		o, err := payload.ReadOptions([]byte(`{"expire":` + expire + `}`))
		one := ending{Expire: expire, Good: err == nil && o.Expire != nil}
		if one.Good {
			one.Ends = map[string]string{}
			for kind, properties := range of {
				if end, ends := o.Expire.ExpiresAt(at, properties); ends {
					one.Ends[kind] = end.String()
				} else {
					one.Ends[kind] = ""
				}
			}
		}
		all = append(all, one)
	}
	b, err := json.MarshalIndent(map[string]any{"written": written, "instant": instant, "rules": all}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

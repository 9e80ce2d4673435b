package changefeed_test

import (
	"testing"
	"time"

	"edgetable/core/changefeed"
	"edgetable/core/table"
)

// FuzzParseToken checks each text that ParseToken accepts for a table. Token must return the same text for the parsed
// position, even if the name of the table is in another case. ParseToken must refuse the text for another table.
func FuzzParseToken(f *testing.F) {
	of, other := table.Name{Account: "acme", Table: "People"}, table.Name{Account: "acme", Table: "Other"}
	for _, at := range []string{"", "12345678", "a longer position of a store"} {
		f.Add(changefeed.Token(of, &table.FeedPosition{Incarnation: table.Incarnation{1, 2}, History: table.History{3}, At: []byte(at)}))
	}
	f.Add("AQID")
	f.Add("=")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := changefeed.ParseToken(of, text)
		if err != nil {
			return
		}
		if again := changefeed.Token(table.Name{Account: "acme", Table: "PEOPLE"}, p); again != text {
			t.Errorf("%q is written as %q", text, again)
		}
		if _, err := changefeed.ParseToken(other, text); err == nil {
			t.Errorf("%q is a position of another table too", text)
		}
		if incarnation, err := changefeed.IncarnationOf(text); err != nil || incarnation != p.Incarnation {
			t.Errorf("%q: %v, %v", text, incarnation, err)
		}
	})
}

// FuzzParse checks that every accepted request is within the limits.
func FuzzParse(f *testing.F) {
	of := table.Name{Account: "acme", Table: "People"}
	f.Add("comp=changes&since=start&wait=20&max=7", "*/*", "", 3)
	f.Add("comp=changes&wait=1", "text/event-stream", "x", 0)
	f.Fuzz(func(t *testing.T, query, accept, last string, timeout int) {
		r, err := changefeed.Parse(of, nil, query, accept, last, time.Duration(timeout%100)*time.Second)
		if err != nil {
			if e, ok := err.(*table.Error); !ok || e.Status() != 400 {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		if r.Wait < 0 || r.Wait > 30*time.Second || r.MaxEvents < 1 || r.MaxEvents > 1000 || r.From != nil && r.Oldest || r.Wait > 0 && r.From == nil && !r.Oldest {
			t.Errorf("%q: %+v", query, r)
		}
	})
}

package payload_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

func TestAppendETag(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]string{
		"2022-01-24T20:59:46.2887383Z": `W/"datetime'2022-01-24T20%3A59%3A46.2887383Z'"`,
		"2020-09-17T02:10:24.910481Z":  `W/"datetime'2020-09-17T02%3A10%3A24.910481Z'"`,
		"2020-09-17T02:10:24Z":         `W/"datetime'2020-09-17T02%3A10%3A24Z'"`,
	} {
		ts := ticks(t, when)
		got := string(payload.AppendETag(nil, ts))
		if got != want {
			t.Errorf("%s: %s", when, got)
		}
		if m, err := payload.ParseIfMatch(got); err != nil || m != (table.Match{Timestamp: ts}) {
			t.Errorf("%s reads as %+v, %v", got, m, err)
		}
	}
}

func TestParseIfMatch(t *testing.T) {
	t.Parallel()
	ts := func(s string) table.Match { return table.Match{Timestamp: ticks(t, s)} }
	never := table.Match{}
	for _, c := range []struct {
		why, header string
		want        table.Match
		fail        table.Code
	}{
		{"any", `*`, table.Match{Any: true}, ""},
		{"any, with blanks", " * \t", table.Match{Any: true}, ""},
		{"an ETag", `W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`, ts("2012-06-15T22:51:44.9662825Z"), ""},
		{"blanks around it", ` W/"datetime'2012-06-15T22%3A51%3A44Z'" `, ts("2012-06-15T22:51:44Z"), ""},
		{"lower-case digits", `W/"datetime'2012-06-15T22%3a51%3a44Z'"`, ts("2012-06-15T22:51:44Z"), ""},
		{"decoded by the client", `W/"datetime'2012-06-15T22:51:44.5Z'"`, ts("2012-06-15T22:51:44.5Z"), ""},
		{"decoded in part", `W/"datetime'2012-06-15T22%3A51:44.5Z'"`, ts("2012-06-15T22:51:44.5Z"), ""},
		{"well-formed, but no time", `W/"wrong"`, never, table.ConditionNotMet},
		{"quotes doubled, as a client of Go sent it", `W/"datetime''2017-04-01T01%3A07%3A23.8881885Z''"`, never, table.ConditionNotMet},
		{"well-formed, empty", `W/""`, never, table.ConditionNotMet},
		{"form of the documentation", `W/"0x5B168C7B6E589D2"`, never, table.ConditionNotMet},
		{"no such day", `W/"datetime'2012-02-30T22%3A51%3A44Z'"`, never, table.ConditionNotMet},
		{"another spelling of a time: zeros", `W/"datetime'2012-06-15T22%3A51%3A44.50Z'"`, never, ""},
		{"another spelling of a time: zone", `W/"datetime'2012-06-15T22%3A51%3A44+00%3A00'"`, never, ""},
		{"another spelling of a time: day only", `W/"datetime'2012-06-15'"`, never, ""},
		{"another character encoded", `W/"datetime'2012-06-15T22%3B51%3A44Z'"`, never, table.ConditionNotMet},
		{"more encoded than the colons", `W/"datetime'2012%2D06-15T22%3A51%3A44Z'"`, never, table.ConditionNotMet},
		{"eight digits", `W/"datetime'2012-06-15T22%3A51%3A44.12345678Z'"`, never, ""},
		{"quote missing", `W/"datetime'2012-06-15T22%3A51%3A44Z"`, never, table.ConditionNotMet},
		{"long", `W/"` + strings.Repeat("x", 5000) + `"`, never, table.ConditionNotMet},
		{"empty", ``, never, table.InvalidInput},
		{"garbage", `MalformedETag`, never, table.InvalidInput},
		{"strong", `"datetime'2012-06-15T22%3A51%3A44Z'"`, never, table.InvalidInput},
		{"without quotes", `W/datetime'2012-06-15T22%3A51%3A44Z'`, never, table.InvalidInput},
		{"prefix in lower case", `w/"x"`, never, table.InvalidInput},
		{"open", `W/"`, never, table.InvalidInput},
		{"a list", `W/"datetime'2012-06-15T22%3A51%3A44Z'", W/"x"`, never, table.InvalidInput},
		{"a list with any", `*, W/"x"`, never, table.InvalidInput},
		{"long garbage", strings.Repeat("ä", 5000), never, table.InvalidInput},
	} {
		m, err := payload.ParseIfMatch(c.header)
		switch c.fail {
		case table.InvalidInput:
			demand(t, c.why, err, c.fail, "The etag value '")
		case table.ConditionNotMet:
			demand(t, c.why, err, c.fail, "The condition specified using HTTP conditional header(s) is not met.")
		}
		if m != c.want || (err != nil) != (c.fail != "") {
			t.Errorf("%s: %s: got %+v, %v", c.why, c.header, m, err)
		}
	}
	_, err := payload.ParseIfMatch("MalformedETag")
	demand(t, "text of the service", err, table.InvalidInput, "The etag value 'MalformedETag' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.")
}

// FuzzIfMatch checks that a header matches at most one Timestamp, and only if the header has the exact text of the
// ETag.
func FuzzIfMatch(f *testing.F) {
	f.Add(`W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`)
	f.Add(`W/"datetime'2012-06-15T22:51:44Z'"`)
	f.Add(`*`)
	f.Add(`W/"%3A%3"`)
	f.Fuzz(func(t *testing.T, header string) {
		m, err := payload.ParseIfMatch(header)
		if err != nil && m != (table.Match{}) {
			t.Errorf("returned %+v with an error", m)
		}
		if m.Timestamp == 0 {
			return
		}
		plain := func(s string) string {
			return strings.NewReplacer("%3A", ":", "%3a", ":").Replace(strings.Trim(s, " \t"))
		}
		if etag := string(payload.AppendETag(nil, m.Timestamp)); plain(etag) != plain(header) {
			t.Errorf("%q is taken for %s", header, etag)
		}
		if m.Timestamp > edm.MaxDateTime {
			t.Errorf("%q is a moment behind all", header)
		}
	})
}

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
		fail        bool
	}{
		{"any", `*`, table.Match{Any: true}, false},
		{"any, with blanks", " * \t", table.Match{Any: true}, false},
		{"an ETag", `W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`, ts("2012-06-15T22:51:44.9662825Z"), false},
		{"blanks around it", ` W/"datetime'2012-06-15T22%3A51%3A44Z'" `, ts("2012-06-15T22:51:44Z"), false},
		{"lower-case digits", `W/"datetime'2012-06-15T22%3a51%3a44Z'"`, ts("2012-06-15T22:51:44Z"), false},
		{"decoded by the client", `W/"datetime'2012-06-15T22:51:44.5Z'"`, ts("2012-06-15T22:51:44.5Z"), false},
		{"decoded in part", `W/"datetime'2012-06-15T22%3A51:44.5Z'"`, ts("2012-06-15T22:51:44.5Z"), false},
		{"well-formed, but no time", `W/"wrong"`, never, false},
		{"well-formed, empty", `W/""`, never, false},
		{"form of the documentation", `W/"0x5B168C7B6E589D2"`, never, false},
		{"no such day", `W/"datetime'2012-02-30T22%3A51%3A44Z'"`, never, false},
		{"another spelling of a time: zeros", `W/"datetime'2012-06-15T22%3A51%3A44.50Z'"`, never, false},
		{"another spelling of a time: zone", `W/"datetime'2012-06-15T22%3A51%3A44+00%3A00'"`, never, false},
		{"another spelling of a time: day only", `W/"datetime'2012-06-15'"`, never, false},
		{"another character encoded", `W/"datetime'2012-06-15T22%3B51%3A44Z'"`, never, false},
		{"more encoded than the colons", `W/"datetime'2012%2D06-15T22%3A51%3A44Z'"`, never, false},
		{"eight digits", `W/"datetime'2012-06-15T22%3A51%3A44.12345678Z'"`, never, false},
		{"quote missing", `W/"datetime'2012-06-15T22%3A51%3A44Z"`, never, false},
		{"long", `W/"` + strings.Repeat("x", 5000) + `"`, never, false},
		{"empty", ``, never, true},
		{"garbage", `MalformedETag`, never, true},
		{"strong", `"datetime'2012-06-15T22%3A51%3A44Z'"`, never, true},
		{"without quotes", `W/datetime'2012-06-15T22%3A51%3A44Z'`, never, true},
		{"prefix in lower case", `w/"x"`, never, true},
		{"open", `W/"`, never, true},
		{"a list", `W/"datetime'2012-06-15T22%3A51%3A44Z'", W/"x"`, never, true},
		{"a list with any", `*, W/"x"`, never, true},
		{"long garbage", strings.Repeat("ä", 5000), never, true},
	} {
		m, err := payload.ParseIfMatch(c.header)
		if c.fail {
			demand(t, c.why, err, table.InvalidInput, "The etag value '")
		}
		if m != c.want || (err != nil) != c.fail {
			t.Errorf("%s: %s: got %+v, %v", c.why, c.header, m, err)
		}
	}
	_, err := payload.ParseIfMatch("MalformedETag")
	demand(t, "text of the service", err, table.InvalidInput, "The etag value 'MalformedETag' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.")
}

// Whatever header comes: at most the very text of one Timestamp matches it.
func FuzzIfMatch(f *testing.F) {
	f.Add(`W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`)
	f.Add(`W/"datetime'2012-06-15T22:51:44Z'"`)
	f.Add(`*`)
	f.Add(`W/"%3A%3"`)
	f.Fuzz(func(t *testing.T, header string) {
		m, err := payload.ParseIfMatch(header)
		if err != nil && m != (table.Match{}) {
			t.Errorf("an error comes with %+v", m)
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

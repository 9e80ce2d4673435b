package httpdate_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"edgetable/core/httpdate"
)

var layouts = []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// TestDays checks that this package and package time give the same results. It writes and parses each day of 60 years
// in each form, at varying times of the day.
func TestDays(t *testing.T) {
	t.Parallel()
	for i := range 60 * 365 {
		at := time.Date(1970, 1, 1+i, 0, 0, i*37%86400, 0, time.UTC)
		if got, want := string(httpdate.Append(nil, at)), at.Format(http.TimeFormat); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		for _, layout := range layouts {
			s := at.Format(layout)
			if got, ok := httpdate.Parse(s); !ok || !got.Equal(at) {
				t.Fatalf("%s: got %v, %t", s, got, ok)
			}
		}
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 3600)
	for _, at := range []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2000, 2, 29, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(2026, 1, 1, 0, 30, 0, 0, east),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		if got, want := string(httpdate.Append([]byte("x"), at)), "x"+at.UTC().Format(http.TimeFormat); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ s, why string }{
		{"", "nothing"},
		{", ", "a comma alone"},
		{"Sun, 06 Nov 1994 08:49:37 UTC", "another zone"},
		{"Sun, 06 Nov 1994 08:49:37", "no zone"},
		{"Sun, 06 Nov 1994 08:49:37 GMT ", "a blank behind it"},
		{"Son, 06 Nov 1994 08:49:37 GMT", "no day of the week"},
		{"Sun, 06 Nev 1994 08:49:37 GMT", "no month"},
		{"Sun, 31 Jun 1994 08:49:37 GMT", "no such day"},
		{"Sun, 29 Feb 1900 08:49:37 GMT", "no leap year"},
		{"Sun, 00 Nov 1994 08:49:37 GMT", "a day zero"},
		{"Sun,  6 Nov 1994 08:49:37 GMT", "a blank for a digit"},
		{"Sun, 06 Nov 1994 24:00:00 GMT", "no such hour"},
		{"Sun, 06 Nov 1994 08:60:37 GMT", "no such minute"},
		{"Sun, 06 Nov 1994 08:49:60 GMT", "a leap second, which clocks here do not have"},
		{"Sun, 06 Nov 1994 08.49.37 GMT", "points for colons"},
		{"Sun, 06 Nov 1994 08:49.37 GMT", "a point for the other"},
		{"Sun, 06 Nov -994 08:49:37 GMT", "a sign"},
		{"Sun, 06-Nov-94 08:49:37 GMT", "the day of the first form with the date of the second"},
		{"Sunday, 06 Nov 1994 08:49:37 GMT", "the other way about"},
		{"Someday, 06-Nov-94 08:49:37 GMT", "no long day"},
		{"Sunday, 06-Nov-94 08:49:37 EST", "another zone in the second form"},
		{"Sun Nov 6 08:49:37 1994", "the third form without its blank"},
		{"Sun Nov  6 08:49:37 1994 GMT", "a zone in the third form"},
		{"1994-11-06T08:49:37Z", "a form of others"},
	} {
		if got, ok := httpdate.Parse(tt.s); ok {
			t.Errorf("%s: %q is read as %v", tt.why, tt.s, got)
		}
	}
}

// FuzzParse checks that package time parses every accepted date to the same time, and that parsing and writing a date
// in the first form gives the same text.
func FuzzParse(f *testing.F) {
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("sunday, 06-nov-69 08:49:37 GMT")
	f.Add("SUN NOV  6 08:49:37 0000")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := httpdate.Parse(s)
		if !ok {
			return
		}
		for _, layout := range layouts {
			want, err := time.Parse(layout, s)
			if err != nil {
				continue
			}
			if !got.Equal(want) {
				t.Fatalf("%q: got %v, want %v", s, got, want)
			}
			if again := string(httpdate.Append(nil, got)); layout == http.TimeFormat && !strings.EqualFold(again[3:], s[3:]) {
				t.Fatalf("%q is written %q", s, again)
			}
			return
		}
		t.Fatalf("%q is read as %v, and package time refuses it", s, got)
	})
}

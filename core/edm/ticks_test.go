package edm_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"edgetable/core/edm"
)

// edges is a list of times at which code for dates often fails.
var edges = []time.Time{
	time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1600, 2, 29, 23, 59, 59, 999_999_900, time.UTC),
	time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1900, 2, 28, 23, 59, 59, 0, time.UTC),
	time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1969, 12, 31, 23, 59, 59, 999_999_900, time.UTC),
	time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2000, 2, 29, 0, 0, 0, 100, time.UTC),
	time.Date(2000, 12, 31, 23, 59, 59, 999_999_900, time.UTC),
	time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
	time.Date(2100, 2, 28, 23, 59, 59, 0, time.UTC),
	time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC),
}

// moments returns times in the years 1 to 9999: the times in the variable edges, the end of each February, and random
// times.
func moments() []time.Time {
	all := append([]time.Time(nil), edges...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		all = append(all, time.Unix(r.Int64N(253_402_300_800+62_135_596_800)-62_135_596_800, r.Int64N(1e7)*100).UTC())
	}
	for year := 1; year <= 9999; year++ { // the last day of each February
		all = append(all, time.Date(year, 3, 1, 0, 0, 0, -100, time.UTC))
	}
	return all
}

func TestTicksAgreeWithTime(t *testing.T) {
	t.Parallel()
	for _, m := range moments() {
		ticks := edm.TicksOf(m)
		if back := ticks.Time(); !back.Equal(m) {
			t.Fatalf("%v became %v", m, back)
		}
		want := m.Format("2006-01-02T15:04:05.9999999Z")
		if got := ticks.String(); got != want {
			t.Fatalf("AppendText: got %s, want %s", got, want)
		}
		seven := m.Format("2006-01-02T15:04:05.0000000Z")
		if got := string(ticks.AppendText7([]byte("x"))); got != "x"+seven {
			t.Fatalf("AppendText7: got %s, want x%s", got, seven)
		}
		for _, text := range []string{want, seven} {
			if got, err := edm.ParseDateTime(text); err != nil || got != ticks {
				t.Fatalf("%s reads as %v, %v", text, got, err)
			}
		}
	}
}

func TestTicksOfCutsToATick(t *testing.T) {
	t.Parallel()
	base := time.Date(1850, 5, 6, 7, 8, 9, 100, time.UTC)
	for ns := range 100 {
		if got := edm.TicksOf(base.Add(time.Duration(ns))); got != edm.TicksOf(base) {
			t.Errorf("%d ns more: %v", ns, got)
		}
	}
	if got := edm.TicksOf(base.Add(100)); got != edm.TicksOf(base)+1 {
		t.Errorf("100 ns more: %v", got)
	}
	zone := time.FixedZone("", 3600)
	if got := edm.TicksOf(base.In(zone)); got != edm.TicksOf(base) {
		t.Errorf("in another zone: %v", got)
	}
}

func TestDateTimeRange(t *testing.T) {
	t.Parallel()
	if got := edm.MinDateTime.String(); got != "1601-01-01T00:00:00Z" {
		t.Errorf("MinDateTime is %s", got)
	}
	if got := edm.MaxDateTime.String(); got != "9999-12-31T23:59:59.9999999Z" {
		t.Errorf("MaxDateTime is %s", got)
	}
	if got := edm.Ticks(0).String(); got != "0001-01-01T00:00:00Z" {
		t.Errorf("0 is %s", got)
	}
	if got := edm.Ticks(-1).Time(); got.Year() != 0 {
		t.Errorf("-1 is %v", got)
	}
}

func TestParseDateTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, text, want string }{
		{"day", "2013-08-22", "2013-08-22T00:00:00Z"},
		{"minute", "2013-08-22T00:20Z", "2013-08-22T00:20:00Z"},
		{"minute without a zone", "2013-08-22T00:20", "2013-08-22T00:20:00Z"},
		{"second", "2013-08-22T00:20:16Z", "2013-08-22T00:20:16Z"},
		{"no zone is UTC", "2013-08-22T00:20:16", "2013-08-22T00:20:16Z"},
		{"one digit", "2013-08-22T00:20:16.1Z", "2013-08-22T00:20:16.1Z"},
		{"two digits", "2013-08-22T00:20:16.12Z", "2013-08-22T00:20:16.12Z"},
		{"three digits", "2013-08-22T00:20:16.123Z", "2013-08-22T00:20:16.123Z"},
		{"six digits", "2013-08-22T00:20:16.123456Z", "2013-08-22T00:20:16.123456Z"},
		{"seven digits", "2013-08-22T00:20:16.1234567Z", "2013-08-22T00:20:16.1234567Z"},
		{"an eighth rounds up", "2013-08-22T00:20:16.12345678Z", "2013-08-22T00:20:16.1234568Z"},
		{"an eighth rounds down", "2013-08-22T00:20:16.123456749Z", "2013-08-22T00:20:16.1234567Z"},
		{"a half rounds to the even digit", "2013-08-22T00:20:16.12345665Z", "2013-08-22T00:20:16.1234566Z"},
		{"a half and zeros too", "2013-08-22T00:20:16.1234567500Z", "2013-08-22T00:20:16.1234568Z"},
		{"more than a half rounds up", "2013-08-22T00:20:16.12345665001Z", "2013-08-22T00:20:16.1234567Z"},
		{"many round to the next second", "2013-08-22T00:20:16." + strings.Repeat("9", 50) + "Z", "2013-08-22T00:20:17Z"},
		{"zeros are trimmed", "2013-08-22T00:20:16.1000000Z", "2013-08-22T00:20:16.1Z"},
		{"fraction of zero", "2013-08-22T00:20:16.000Z", "2013-08-22T00:20:16Z"},
		{"east of UTC", "2013-08-22T00:20:16+01:00", "2013-08-21T23:20:16Z"},
		{"west of UTC", "2013-08-22T00:20:16.5-09:30", "2013-08-22T09:50:16.5Z"},
		{"zone after minutes", "2013-08-22T00:20+14:00", "2013-08-21T10:20:00Z"},
		{"leap day", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"},
		{"year 1, judged elsewhere", "0001-01-01T00:00:00", "0001-01-01T00:00:00Z"},
	} {
		if got, err := edm.ParseDateTime(c.text); err != nil || got.String() != c.want {
			t.Errorf("%s: %s: got %v, %v", c.why, c.text, got, err)
		}
	}
	for _, c := range []struct{ why, text string }{
		{"empty", ""},
		{"word", "today"},
		{"year of two digits", "13-08-22"},
		{"year of five digits", "12013-08-22T00:00:00Z"},
		{"month 0", "2013-00-22"},
		{"month 13", "2013-13-22"},
		{"day 0", "2013-08-00"},
		{"day 32", "2013-08-32"},
		{"31 April", "2013-04-31"},
		{"29 February", "2013-02-29"},
		{"29 February of a century", "1900-02-29"},
		{"hour 24", "2013-08-22T24:00:00Z"},
		{"minute 60", "2013-08-22T00:60:00Z"},
		{"second 60", "2013-08-22T00:00:60Z"},
		{"hour alone", "2013-08-22T00Z"},
		{"T alone", "2013-08-22T"},
		{"zone behind a day", "2013-08-22Z"},
		{"blank for T", "2013-08-22 00:20:16Z"},
		{"small letters", "2013-08-22t00:20:16z"},
		{"no digit behind the point", "2013-08-22T00:20:16.Z"},
		{"comma for a point", "2013-08-22T00:20:16,5Z"},
		{"slashes", "2013/08/22"},
		{"zone without a colon", "2013-08-22T00:20:16+0100"},
		{"zone without minutes", "2013-08-22T00:20:16+01"},
		{"zone beyond 14 hours", "2013-08-22T00:20:16+15:00"},
		{"minutes of a zone", "2013-08-22T00:20:16+01:60"},
		{"two zones", "2013-08-22T00:20:16ZZ"},
		{"blank behind", "2013-08-22T00:20:16Z "},
		{"blank before", " 2013-08-22T00:20:16Z"},
		{"sign in a number", "2013-+8-22T00:20:16Z"},
		{"digits of another script", "٢٠١٣-08-22"},
	} {
		if got, err := edm.ParseDateTime(c.text); err == nil {
			t.Errorf("%s: %q reads as %v", c.why, c.text, got)
		}
	}
}

// FuzzParseDateTime checks that every parsed time is in the years 0 to 9999, or near them because of its zone. The
// text of a time within these years must parse to the same time.
func FuzzParseDateTime(f *testing.F) {
	f.Add("2013-08-22T00:20:16.1234567+01:00")
	f.Add("9999-12-31T23:59:59-14:00")
	f.Add("0000-01-01T00:00+14:00")
	f.Fuzz(func(t *testing.T, s string) {
		ticks, err := edm.ParseDateTime(s)
		if err != nil {
			if ticks != 0 {
				t.Errorf("Parse returns an error and %d", ticks)
			}
			return
		}
		if y := ticks.Time().Year(); y < -1 || y > 10_000 {
			t.Errorf("%q is in year %d", s, y)
		}
		if ticks < 0 || ticks > edm.MaxDateTime {
			return
		}
		if again, err := edm.ParseDateTime(ticks.String()); err != nil || again != ticks {
			t.Errorf("%q is %v, which reads as %v, %v", s, ticks, again, err)
		}
	})
}

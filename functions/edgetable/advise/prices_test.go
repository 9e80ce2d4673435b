package advise

import (
	"net/url"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestPrices checks that each price has a source and a date, and that no price was older than a
// year when the newest release was made. It does not use the clock, because an old release must
// still build.
func TestPrices(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	released := newest(t, string(changes))
	for _, p := range Prices {
		of, err := time.Parse(time.DateOnly, p.Of)
		u, bad := url.Parse(p.Source)
		if err != nil || bad != nil || u.Scheme != "https" || p.Dollars <= 0 || p.Per < 1 {
			t.Errorf("%+v: %v, %v", p, err, bad)
		}
		if stale(of, released) {
			t.Errorf("the price of %s, %s, is of %s, more than a year before the release of %s: look at %s and change prices.json",
				p.Home, p.Thing, p.Of, released.Format(time.DateOnly), p.Source)
		}
	}
	for _, tt := range []struct {
		changes string
		stale   bool
	}{
		{"# Changelog\n\n## Unreleased\n", false},
		{"## Unreleased\n\n## 1.1.0 (2027-11-22)\n\n## 1.0.0 (2026-12-01)\n", true},
		{"## Unreleased\n\n## v1.0.0 - 2027-11-20\n", false},
	} {
		if got := stale(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), newest(t, tt.changes)); got != tt.stale {
			t.Errorf("%q: prices of 2026-11-21 are stale: %v", tt.changes, got)
		}
	}
}

// stale reports whether a price is more than a year older than a release.
func stale(of, released time.Time) bool { return released.After(of.AddDate(1, 0, 0)) }

// newest is the date of the newest release in a changelog; zero if there is none.
func newest(t *testing.T, changes string) time.Time {
	t.Helper()
	m := regexp.MustCompile(`(?m)^## .*?(\d{4}-\d{2}-\d{2})`).FindStringSubmatch(changes)
	if m == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, m[1])
	if err != nil {
		t.Fatal(err)
	}
	return at
}

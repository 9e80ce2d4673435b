package version_test

import (
	"testing"

	"edgetable/core/version"
)

func TestKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version string
		known   bool
		why     string
	}{
		{"2009-04-14", true, "the first"},
		{"2009-04-13", false, "before the first"},
		{"2019-02-02", true, "what most SDKs send"},
		{"2026-06-06", true, "the newest in the list"},
		{"2018-06-28", false, "never published"},
		{"2017-01-19", false, "never published"},
		{"2019-02-30", false, "no date"},
		{"2026-06-07", true, "after the newest"},
		{"2031-02-28", true, "far after the newest"},
		{"2031-02-29", false, "no date after the newest"},
		{"2031-2-28", false, "another form"},
		{"2031-02-28T00:00:00", false, "more than a date"},
		{"latest", false, "a word"},
		{"", false, "nothing"},
	} {
		if got := version.Known(tt.version); got != tt.known {
			t.Errorf("Known(%q) is %t: %s", tt.version, got, tt.why)
		}
	}
}

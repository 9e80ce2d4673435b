package wiretest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// moments contains the Timestamps of a scenario, in the order of their first occurrence in responses.
type moments []string

// timestamp matches a Timestamp on the day of the transcripts, even inside an ETag or a target.
var timestamp = regexp.MustCompile(`2026-03-04T05(:|%3A)06(:|%3A)\d\d\.\d+Z`)

// name replaces the Timestamps in a response by numbered placeholders.
func (m *moments) name(text string) string { return m.nameEach(text, timestamp) }

// recent matches a Timestamp of any day, with or without a fraction of a second. nameAny replaces only Timestamps of
// the last hour, because this test did not issue older ones.
var recent = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d(:|%3A)\d\d(:|%3A)\d\d(\.\d+)?Z`)

// nameAny is like name, for a server that runs on the real clock.
func (m *moments) nameAny(text string) string {
	return recent.ReplaceAllStringFunc(text, func(t string) string {
		at, err := time.Parse(time.RFC3339Nano, strings.ReplaceAll(t, "%3A", ":"))
		if err != nil || time.Since(at).Abs() > time.Hour {
			return t
		}
		return m.nameEach(t, recent)
	})
}

func (m *moments) nameEach(text string, pattern *regexp.Regexp) string {
	return pattern.ReplaceAllStringFunc(text, func(t string) string {
		t = strings.ReplaceAll(t, "%3A", ":")
		if !slices.Contains(*m, t) {
			*m = append(*m, t)
		}
		return fmt.Sprintf("{Timestamp %d}", slices.Index(*m, t))
	})
}

// translate replaces Timestamps in a request. A Timestamp of m is replaced by the Timestamp at the same index in the
// list other.
func (m moments) translate(text string, other moments) string {
	return timestamp.ReplaceAllStringFunc(text, func(t string) string {
		i := slices.Index(m, strings.ReplaceAll(t, "%3A", ":"))
		if i < 0 || i >= len(other) {
			return t
		}
		if strings.Contains(t, "%3A") {
			return strings.ReplaceAll(other[i], ":", "%3A")
		}
		return other[i]
	})
}

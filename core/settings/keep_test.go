package settings_test

import (
	"strings"
	"testing"

	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

// TestKeepOfLaterVersion checks that Merge does not lose unknown elements, which a later version of this program may
// have stored. An unknown element may be a child of the root element. It may also be inside a known element, such as
// Logging, that the new document lacks.
func TestKeepOfLaterVersion(t *testing.T) {
	t.Parallel()
	const later = `<Later a="1"><Logging>x &amp; y</Logging></Later>`
	const self = `<Closed />`
	oldLogging := strings.Replace(logging, "</Logging>", "<Level>7</Level></Logging>", 1)
	stored := properties(oldLogging, later, metrics, self, "<Cors>"+strings.Replace(rule, "</CorsRule>", "<Paths>*</Paths></CorsRule>", 1)+"</Cors>")
	got, err := settings.Merge([]byte(stored), []byte(properties(strings.ReplaceAll(metrics, "HourMetrics", "Metrics"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{oldLogging, later, self, "<Paths>*</Paths>"} {
		if strings.Count(string(got), part) != 1 {
			t.Errorf("%s is not once in %s", part, got)
		}
	}
	again, err := settings.Merge(got, []byte(properties(logging, "<Cors/>", "<OfTheClient/>")))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"<Level>", "<Paths>", "<OfTheClient"} {
		if strings.Contains(string(again), gone) {
			t.Errorf("%s is still in %s", gone, again)
		}
	}
	for _, part := range []string{later, self, "<Cors />"} {
		if strings.Count(string(again), part) != 1 {
			t.Errorf("%s is not once in %s", part, again)
		}
	}
}

// TestKeepIsUpdate checks a stored document without unknown elements: Merge must return the same document as Update
// and then Append.
func TestKeepIsUpdate(t *testing.T) {
	t.Parallel()
	want := configured()
	stored := want.Append(nil, false)
	for _, body := range []string{properties(logging), properties(metrics), cors(), cors(rule), full, legacy, unset} {
		if err := want.Update([]byte(body)); err != nil {
			t.Fatal(err)
		}
		var err error
		if stored, err = settings.Merge(stored, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want.Append(nil, false)), string(stored)); diff != "" {
			t.Errorf("%s: -want +got\n%s", body, diff)
		}
	}
	if _, err := settings.Merge(stored, []byte("<a/>")); err == nil {
		t.Error("a wrong body is stored")
	}
	if _, err := settings.Merge([]byte("<a/>"), []byte(full)); err == nil {
		t.Error("a damaged document is replaced")
	}
	if got, err := settings.Merge(nil, []byte(full)); err != nil || string(got) != full {
		t.Errorf("the first document is stored as %s, %v", got, err)
	}
}

package protocol_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/core/wiretest/scene"
	"edgetable/testdata/memstore"
)

// Package wiretest looks up this flag by its name, so no variable holds it.
var _ = flag.Bool("update", false, "rewrite the responses in testdata/wire")

func TestWire(t *testing.T) { wiretest.Run(t, wiretest.Direct) }

// unreached lists the error codes that no transcript can show, with the reasons.
var unreached = map[table.Code]string{
	table.ChangesExpired: "it needs a position, which differs each time; changefeed has it",
	table.FeedEnded:      "it needs a position, which differs each time; changefeed has it",
	table.HistoryChanged: "it needs a store that was restored; the tests of the binary have it",

	table.OptionsBusy: "it needs a rule that is older than an hour; storetest has it",
}

// TestWireCodes checks that each error code of the server occurs in a transcript, in JSON or in XML, or is listed in
// unreached.
func TestWireCodes(t *testing.T) {
	t.Parallel()
	list, err := wiretest.Load()
	if err != nil {
		t.Fatal(err)
	}
	var corpus strings.Builder
	exchanges := 0
	for _, transcript := range list {
		exchanges += len(transcript.Exchanges)
		for _, e := range transcript.Exchanges {
			corpus.WriteString(e.Response)
		}
	}
	codes := table.Codes()
	slices.Sort(codes)
	for _, code := range codes {
		var formats []string
		for _, form := range []struct{ format, text string }{
			{"JSON", `"code":"` + string(code) + `"`},
			{"ATOM", "<code>" + string(code) + "</code>"},
			{"XML", "<m:code>" + string(code) + "</m:code>"},
		} {
			if strings.Contains(corpus.String(), form.text) {
				formats = append(formats, form.format)
			}
		}
		switch reason, listed := unreached[code]; {
		case len(formats) == 0 && !listed:
			t.Errorf("no transcript shows %s", code)
		case len(formats) > 0 && listed:
			t.Errorf("a transcript shows %s, which is listed as unreached: %s", code, reason)
		}
		t.Logf("%-40s %s", code, strings.Join(formats, " "))
	}
	t.Logf("%d exchanges in %d transcripts", exchanges, len(list))
}

// TestExtendedCorpus plays the corpus of recorded requests to a server with extensions. All answers must be the same as
// without extensions, except the errors for a use of an extension.
func TestExtendedCorpus(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("the corpus is written from a server without extensions")
	}
	others := wiretest.Dialect{Others: []string{
		"atom-errors-early/11", "order-of-checks/11", "filter-errors/16", "extensions-off/05", // $orderby
		"filter-errors/03", "filter-errors/04", "atom-queries/20", "extensions-off/03", "extensions-off/04", // functions
		"extensions-off/06", "extensions-off/07", // $count
	}}
	wiretest.RunScenes(t, others, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
		h, err := scene.New(clock, append(directives, "extensions"), scene.Patient)
		if err != nil {
			t.Fatal(err)
		}
		return wiretest.Direct(t, h)
	})
}

// ruled is a store that gives each new table the same rule of expiry.
type ruled struct {
	table.Store
	rule table.Expiry
}

func (s ruled) Unwrap() table.Store { return s.Store }

func (s ruled) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Key.Table != "" && r.Revision == "" {
		r.Traits = &table.Traits{Expiry: &s.rule}
	}
	return s.Store.WriteRecord(ctx, r)
}

// The constant ruling names an environment variable. If the variable is set, TestRuledCorpus uses a rule of expiry by
// which all entities expire.
const ruling = "EDGETABLE_CORPUS_AFTER"

// TestRuledCorpus plays the corpus of recorded requests with a rule of expiry in each table. By this rule no entity
// expires, so all answers must be the same as without a rule. A child process shows that the test can fail. It runs the
// same test with a rule by which all entities expire, and must fail.
func TestRuledCorpus(t *testing.T) {
	t.Parallel()
	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("the corpus is written from tables that declare nothing")
	}
	rule := table.Expiry{Property: "NoEntityHasThis"}
	if os.Getenv(ruling) != "" {
		rule.After = 1
	}
	wiretest.RunScenes(t, wiretest.Dialect{}, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
		if strings.HasSuffix(t.Name(), "/options") {
			t.Skip("it shows what a table declares")
		}
		h, err := scene.Over(ruled{memstore.New(clock.Now), rule}, clock, directives, scene.Patient)
		if err != nil {
			t.Fatal(err)
		}
		return wiretest.Direct(t, h)
	})
	if os.Getenv(ruling) != "" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	control := exec.CommandContext(t.Context(), exe, "-test.run", "^TestRuledCorpus$/^(entit|atom-entit)")
	control.Env = append(os.Environ(), ruling+"=1")
	out, err := control.CombinedOutput()
	if failed := strings.Count(string(out), "--- FAIL: TestRuledCorpus/"); err == nil || failed == 0 {
		t.Errorf("under a rule by which entities end at once the corpus plays as without: %v\n%s", err, out)
	}
}

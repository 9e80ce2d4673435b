package transfer_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

var updateCorpus = flag.Bool("update", false, "write testdata/import/expected.json")

type imported struct {
	File     string            `json:"file"`
	Entities []json.RawMessage `json:"entities,omitempty"` // in key order
	Refused  []int             `json:"refused,omitempty"`  // line numbers of the refused rows
	Dropped  int64             `json:"dropped,omitempty"`  // number of rows that were replaced by a later row with the same keys
	Fails    bool              `json:"fails,omitempty"`
}

// TestImportCorpus imports the files of testdata/import and compares the results with
// expected.json. A test of the web explorer imports the same files and expects the same results.
func TestImportCorpus(t *testing.T) {
	t.Parallel()
	dir := filepath.FromSlash("../../../testdata/import")
	var cases []struct {
		File, PartitionKey, RowKey string
		Types                      map[string]string
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	must.OK(t, err)
	must.OK(t, json.Unmarshal(text, &cases))
	var all []imported
	for _, one := range cases {
		types := map[string]edm.Type{}
		for name, of := range one.Types {
			types[name], _ = rows.ParseType(of)
		}
		c := newClient(t)
		im := newImport(t, c, filepath.Join(dir, one.File), "People", "replace")
		im.Mapping = rows.Mapping{PartitionKey: one.PartitionKey, RowKey: one.RowKey, Types: types}
		got := imported{File: one.File}
		im.OnReject = func(_ string, line int, _ string) { got.Refused = append(got.Refused, line) }
		totals, err := im.Run(t.Context(), c)
		if got.Fails = err != nil; got.Fails {
			got.Refused = nil // not compared, because the number of rows refused before the error varies from run to run
		} else {
			for _, line := range dump(t, c, "People") {
				got.Entities = append(got.Entities, json.RawMessage(line))
			}
			got.Dropped = totals.Dropped
		}
		slices.Sort(got.Refused)
		all = append(all, got)
	}
	text, err = json.MarshalIndent(all, "", "  ")
	must.OK(t, err)
	text = append(text, '\n')
	file := filepath.Join(dir, "expected.json")
	if *updateCorpus {
		must.OK(t, os.WriteFile(file, text, 0o644))
	}
	want, err := os.ReadFile(file)
	must.OK(t, err)
	if string(text) != string(want) {
		t.Errorf("the command imports\n%s\nwant\n%s", text, want)
	}
}

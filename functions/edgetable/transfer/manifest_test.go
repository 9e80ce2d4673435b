package transfer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/testdata/must"
)

// TestManifestForged checks manifests from an untrusted source. A manifest with a file outside its
// own directory, or with too many files, must be refused before any of its files is read.
func TestManifestForged(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"People/000001.jsonl.zst": true, "people.csv": true, "a..b": true,
		"../../etc/passwd": false, "People/../../x": false, "/etc/passwd": false, "": false, ".": false, "..": false, "People//x": false, "./x": false,
		`..\x`: false, `C:\x`: false, "C:x": false, "a\x00b": false, "a\nb": false, "People/..": false,
	} {
		dir := t.TempDir()
		text, err := json.Marshal(&export.Manifest{Edgetable: 1, Tables: []export.ManifestTable{{Name: "People", Files: []progressfile.Stored{{File: name}}}}})
		must.OK(t, err)
		must.OK(t, os.WriteFile(filepath.Join(dir, export.ManifestName), text, 0o600))
		_, err = Sources(dir, "")
		refused := err != nil && strings.Contains(err.Error(), "which is not in the same directory")
		if ok == refused || err == nil { // an accepted name must still give an error, because the file is missing
			t.Errorf("%q: %v", name, err)
		}
	}
	dir := t.TempDir()
	text, err := json.Marshal(&export.Manifest{Edgetable: 1, Tables: []export.ManifestTable{{Name: "People", Files: make([]progressfile.Stored, 1_000_001)}}})
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(dir, export.ManifestName), text, 0o600))
	if _, err := Sources(dir, ""); err == nil || !strings.Contains(err.Error(), "lists more than 1000000 files") {
		t.Errorf("%d files: %v", 1_000_001, err)
	}
}

// TestOneTableOfExport checks that a table name chooses one table of an export. An export of a single table may be imported
// into any table, but rows of several tables must not be mixed in one.
func TestOneTableOfExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	declare := func(names ...string) {
		m := export.Manifest{Edgetable: 1}
		for _, name := range names {
			if name == "(missing)" {
				m.Missing = append(m.Missing, "Orders")
				continue
			}
			must.OK(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), nil, 0o600))
			m.Tables = append(m.Tables, export.ManifestTable{Name: name, Files: []progressfile.Stored{{File: name + ".jsonl"}}})
		}
		text, err := json.Marshal(&m)
		must.OK(t, err)
		must.OK(t, os.WriteFile(filepath.Join(dir, export.ManifestName), text, 0o600))
	}
	for _, c := range []struct {
		tables []string
		named  string
		want   string // the tables of the sources, or a part of the error
	}{
		{[]string{"People"}, "", "People"},
		{[]string{"People"}, "Humans", "Humans"},
		{[]string{"People", "(missing)"}, "Orders", "an export of the tables People: --table can name one of them"},
		{[]string{"People", "(missing)"}, "people", "people"},
		{[]string{"People", "Orders"}, "", "People Orders"},
		{[]string{"People", "Orders"}, "orders", "orders"},
		{[]string{"People", "Orders"}, "Humans", "an export of the tables People, Orders: --table can name one of them"},
	} {
		declare(c.tables...)
		list, err := Sources(dir, c.named)
		var got []string
		for _, s := range list {
			got = append(got, s.Table)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("--table %q of %q: %s, want %s", c.named, c.tables, text, c.want)
		}
	}
}

package explorer

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// wizard opens the import dialog of the current table with a file.
func (b *tab) wizard(name, text string) {
	b.Helper()
	b.click(at("files"))
	b.click(at("import-open"))
	b.file(at("import-file"), name, text)
}

// imports starts the import, waits for its final message, and closes the dialog.
func (b *tab) imports(said string) {
	b.Helper()
	b.click(at("import-begin"))
	b.seeText(at("import-progress"), said)
	b.click(at("import-close"))
	b.gone("dialog")
}

// TestWizard checks the import dialog. It creates a table, renames and skips columns, generates RowKeys,
// reads JSON lines and a JSON array, and replaces or merges existing entities.
func TestWizard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	get := func(path, has, hasNot string) {
		t.Helper()
		if text := s.do("GET", path, "", 200); !strings.Contains(text, has) || hasNot != "" && strings.Contains(text, hasNot) {
			t.Errorf("%s has %s, want %s and no %s", path, text, has, hasNot)
		}
	}
	// A new table. The line number becomes the RowKey, one column is renamed, and one is skipped.
	b.wizard("cities.csv", "city,inhabitants,secret\nOslo,700000,x\nBergen,290000,y\n")
	b.seeText(at("import"), "Choose a column for PartitionKey, or type one text for all rows.")
	b.wait(`document.querySelector(%s).disabled`, at("import-begin"))
	b.choose(at("import-pk"), "city")
	b.choose(at("import-rk"), "=number")
	b.choose(at("import-type-inhabitants"), "Int64")
	js[bool](b, `(e => { e.value = "People"; e.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector('[aria-label="Property of inhabitants"]'))`)
	js[bool](b, `([...document.querySelectorAll(".mapping label")].find(e => e.innerText.trim() == "secret").querySelector("input").click(), true)`)
	b.set(at("import-table"), "a!")
	b.wait(`document.querySelector(%s).disabled`, at("import-begin"))
	b.set(at("import-table"), "cities")
	b.seeText(at("import-preview"), `PartitionKey: "Oslo", RowKey: "0000000001", People: Int64 700000`)
	b.shot("wizard")
	b.imports("2 entities written. Finished.")
	b.seeText(at("table"), "cities")
	get("/cities(PartitionKey='Oslo',RowKey='0000000001')", `"People":"700000"`, "secret")
	// A Guid becomes the RowKey, and the file has tabs between the cells. The table already exists.
	b.wizard("more.tsv", "city\tinhabitants\nTromsø\t78000\n")
	b.choose(at("import-pk"), "city")
	b.choose(at("import-rk"), "=guid")
	b.set(at("import-table"), "cities")
	b.imports("1 entity written. Finished.")
	b.seeText(at("title"), "cities") // the table opens after the import
	js[bool](b, `(history.back(), true)`)
	b.seeText(at("title"), "people")
	if n := strings.Count(s.do("GET", "/cities()", "", 200), `"RowKey"`); n != 3 {
		t.Errorf("there are %d cities", n)
	}
	// The file has types in columns next to the values, or the user chooses the type of a column.
	b.wizard("typed.csv", "PartitionKey,RowKey,Timestamp,A,A@type,B,B@type\ntyped,1,2020-01-01T00:00:00Z,5,Edm.Int64,1,Int32\ntyped,2,2020-01-01T00:00:00Z,6,,x,Edm.Nothing\n")
	b.choose(at("import-type-B"), "Double")
	b.seeText(at("import-preview"), "A: Int64 5, B: Double 1")
	b.seeText(at("import-preview"), "Line 3: B: there is no type Edm.Nothing")
	b.imports("1 entity written, 1 refused. Finished.")
	get("/people(PartitionKey='typed',RowKey='1')", `"A":"5"`, "2020-01-01")
	// JSON lines, one of which is invalid. Existing entities are merged.
	b.wizard("people.jsonl", `{"PartitionKey":"Bergen","RowKey":"001","City":"London"}`+"\n"+`{"PartitionKey":"Bergen","RowKey":"002","Born":}`+"\n"+`{"RowKey":"3"}`+"\n")
	b.choose(at("import-existing"), "merge")
	b.seeText(at("import-preview"), "Line 2: expected a string, a number, true, false or null")
	b.imports("1 entity written, 2 refused. Finished.")
	get("/people(PartitionKey='Bergen',RowKey='001')", `"City":"London"`, "")
	get("/people(PartitionKey='Bergen',RowKey='001')", `"Name":"Ada"`, "")
	// The file is a JSON array on several lines. Existing entities are replaced. Of two rows with the same
	// keys, the last one is used.
	b.wizard("people.json", "[\n  {\n    \"PartitionKey\": \"Bergen\", \"RowKey\": \"001\",\n    \"Name\": \"first\"\n  },\n  {\"PartitionKey\": \"Bergen\", \"RowKey\": \"001\", \"Name\": \"Augusta}\"}\n]\n")
	b.choose(at("import-existing"), "replace")
	b.imports("1 entity written, 1 left out for later rows with the same keys. Finished.")
	get("/people(PartitionKey='Bergen',RowKey='001')", `"Name":"Augusta}"`, "London")
	// An empty file, and a file that ends inside a cell.
	b.wizard("empty.csv", "")
	b.wait(`document.querySelector(%s).disabled`, at("import-begin"))
	b.file(at("import-file"), "cut.csv", "PartitionKey,RowKey,Name\na,1,\"cut")
	b.seeText(at("error"), "the file ends inside a quoted cell")
	b.wait(`document.querySelector(%s).disabled`, at("import-begin"))
	b.shot("wizard-cut")
	b.keys("\x1b")
	b.gone("dialog")
	b.quiet("409 (Conflict)")
}

// TestStopFiles checks that an export and an import can be stopped and resumed, and that a stopped
// export saves the rows it has read.
func TestStopFiles(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(2300)...)
	var mode atomic.Value
	mode.Store("")
	held, release := make(chan struct{}, 100), make(chan struct{})
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if mode.Load() == "export" && r.URL.Query().Get("NextPartitionKey") != "" || mode.Load() == "import" && strings.HasSuffix(r.URL.Path, "/$batch") {
			held <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return false
	})
	b := newTab(t)
	dir := b.downloads()
	b.enter("gateway", &server{t: t, connection: connection}, "many")
	b.seeText(at("status"), "1,000 rows loaded")
	mode.Store("export")
	b.click(at("files"))
	b.click(at("export-open"))
	b.seeText(at("export"), "the whole table")
	b.click(at("export-begin"))
	b.held(held)
	b.seeText(at("export-progress"), "1,000 entities")
	b.click(at("export-stop"))
	b.seeText(at("export-progress"), "Stopped.")
	b.click(at("export-save"))
	if n := strings.Count(b.saved(dir, "many.jsonl"), "\n"); n != 1000 {
		t.Errorf("%d lines were saved", n)
	}
	mode.Store("")
	b.shot("export-stopped")
	b.click(at("export-begin")) // the button now says "Resume"
	b.seeText(at("export-progress"), "2,300 entities")
	b.seeText(at("export-progress"), "Finished.")
	b.choose(at("export-format"), "csv")
	b.click(at("export-save"))
	if text := b.saved(dir, "many.csv"); strings.Count(text, "\n") != 2301 || !strings.HasPrefix(text, "PartitionKey,RowKey,Timestamp,N,N@type\r\n") {
		t.Errorf("the CSV has %d lines: %.100s", strings.Count(text, "\n"), text)
	}
	b.keys("\x1b")
	b.gone("dialog")

	var lines strings.Builder
	lines.WriteString("PartitionKey,RowKey\n")
	for i := range 6000 {
		lines.WriteString("imported," + rowKey(i) + "\n")
	}
	mode.Store("import")
	b.wizard("many.csv", lines.String())
	b.click(at("import-begin"))
	b.held(held)
	b.click(at("import-stop"))
	mode.Store("")
	close(release)
	b.seeText(at("import-progress"), "Stopped.")
	b.shot("import-stopped")
	b.click(at("import-go-on"))
	b.seeText(at("import-progress"), "6,000 entities written. Finished.")
	b.click(at("import-close"))
	if got := s.run("", "count", "many", "--from", s.connection); !strings.Contains(got, "8300") {
		t.Errorf("there are %s", got)
	}
}

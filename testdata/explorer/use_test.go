package explorer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// row is a selector of a row of the grid.
func row(i string) string { return `.row[data-row="` + i + `"]` }

// field is a selector within the editor of a property.
func field(name, part string) string {
	return `[data-test="field"][data-name="` + name + `"] ` + at(part)
}

// browse opens a table of a server through the gateway.
func browse(t *testing.T, s *server, table string) *tab {
	t.Helper()
	b := newTab(t)
	b.open(s.explore())
	b.seeText(at("home"), "dev") // the session has begun
	js[bool](b, `(location.hash = "#/dev/" + %s, true)`, table)
	b.see(at("status"))
	return b
}

// set puts a text into a field at once.
func (b *tab) set(selector, text string) {
	b.Helper()
	b.see(selector)
	js[bool](b, `(e => { e.value = %[2]s; e.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector(%[1]s))`, selector, text)
}

// text returns what a part of the page shows.
func (b *tab) text(selector string) string {
	b.Helper()
	b.see(selector)
	return js[string](b, `document.querySelector(%s).innerText`, selector)
}

func people() []entity {
	return []entity{
		{"PartitionKey": "Bergen", "RowKey": "001", "Name": "Ada", "Born": 1815, "Id@odata.type": "Edm.Int64", "Id": "9007199254740993", "Note": ""},
		{"PartitionKey": "Oslo", "RowKey": "001", "Name": "Grace", "Born": 1906},
		{"PartitionKey": "Oslo", "RowKey": "012", "Name": "Barbara", "Born": 1939, "At@odata.type": "Edm.DateTime", "At": "2026-03-04T05:06:07.1234567Z"},
		{"PartitionKey": "Oslo", "RowKey": "013", "Name": "Edsger", "Born": 1930},
	}
}

// A query completes names, shows problems at their place, translates prefixes, is
// remembered, and says what it cost.
func TestQuery(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.set(at("filter"), "Born > 5")
	b.seeText(at("problem"), "Character 6: expected eq, ne, gt, ge, lt or le (greater is gt)")
	b.wait(`document.querySelector(".filter mark").textContent == ">"`)
	b.fill(at("filter"), "startswith(RowKey, '01') and Bor")
	b.seeText(at("choices"), "Int32")
	b.keys("\t")
	b.keys("gt 1935")
	b.click(at("run"))
	b.wait(`document.querySelectorAll(".row[data-row]").length == 1`)
	b.seeText(at("sent"), "(RowKey ge '01' and RowKey lt '02') and Born gt 1935")
	b.seeText(at("status"), "1 row, all that match")
	b.seeText(at("cost"), "4 scanned")
	b.wait(`decodeURIComponent(location.hash.replaceAll("+", " ")).includes("startswith(RowKey, '01') and Born gt 1935")`)
	b.click(at("count"))
	b.seeText(at("count"), "1 in all")
	b.click(at("code"))
	b.seeText(at("code-text"), `query_entities("(RowKey ge '01' and RowKey lt '02') and Born gt 1935")`)
	js[bool](b, `document.querySelector("dialog").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true, cancelable: true})) || true`)
	b.wait(`!document.querySelector("dialog")`)
	b.click(at("builder"))
	b.see(at("builder-panel"))
	b.wait(`document.querySelectorAll(".condition").length == 2`)
	b.set(at("filter"), "")
	b.click(at("run"))
	b.wait(`document.querySelectorAll(".row[data-row]").length == 4`)
	b.click(at("history"))
	b.click(at("ran"))
	b.wait(`document.querySelectorAll(".row[data-row]").length == 1`)
	b.shot("query")
}

// An entity is edited with exact values. If somebody else was faster, both versions
// are shown and merge.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	js[bool](b, `(location.hash = "#/dev/people?pk=Bergen&rk=001", true)`)
	b.seeText(at("entity-json"), `"Id": "9007199254740993"`)
	b.click(at("edit"))
	b.set(field("Id", "field-value"), "9223372036854775807")
	b.set(field("Born", "field-value"), "1")
	b.click(field("Note", "field-remove"))
	s.do("PUT", "/people(PartitionKey='Bergen',RowKey='001')", `{"Name":"Ada","Born":2,"City":"London","Note":""}`, 204)
	b.click(at("save-entity"))
	b.see(at("merge"))
	b.shot("merge")
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), "London")
	if got := b.text(at("entity-json")); !strings.Contains(got, `"Id": "9223372036854775807"`) || !strings.Contains(got, `"Born": 1,`) || strings.Contains(got, "Note") {
		t.Errorf("merged to\n%s", got)
	}
	// A value that does not fit its type is not sent, and what was typed stays.
	b.click(at("edit"))
	b.set(field("Born", "field-value"), "2147483648")
	b.click(at("save-entity"))
	b.seeText(at("error"), "an Int32 is from -2147483648 to 2147483647")
	b.wait(`document.querySelector(%s).value == "2147483648"`, field("Born", "field-value"))
	b.click(at("discard"))
	// A deletion can be undone, and the entity is the same again.
	before := b.text(at("entity-json"))
	b.click(at("delete"))
	b.see(at("deleted"))
	s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 404)
	b.click(at("undo"))
	b.wait(`!document.querySelector(%s)`, at("deleted"))
	js[bool](b, `(location.hash = "#/dev/people?pk=Bergen&rk=001", true)`)
	b.seeText(at("entity-json"), "London")
	withoutTime := func(s string) string {
		var lines []string
		for line := range strings.Lines(s) {
			if !strings.Contains(line, "Timestamp") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if after := b.text(at("entity-json")); withoutTime(after) != withoutTime(before) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// All results are changed, copied and deleted, loaded or not; the page asks for the
// name of the table before it deletes.
func TestAllResults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var many []entity
	for i := range 2300 {
		many = append(many, entity{"PartitionKey": string(rune('a' + i%3)), "RowKey": rowKey(i), "N": i})
	}
	s.fill("many", many...)
	s.fill("other", entity{"PartitionKey": "a", "RowKey": rowKey(0), "N": -1})
	b := browse(t, s, "many")
	b.seeText(at("status"), "1,000 rows loaded, there are more")
	all := func(kind, progress string) {
		t.Helper()
		b.click(at("bulk-begin"))
		b.seeText(at("bulk-progress"), progress)
		b.see(at("bulk-close"))
		b.click(at("bulk-close"))
	}
	b.click(at("bulk"))
	b.click(at("bulk-set"))
	b.set(at("set-name"), "Mark")
	b.set(at("set-value"), "x")
	all("set", "2,300 entities changed. Finished.")
	b.click(at("bulk"))
	b.click(at("bulk-copy"))
	b.set(at("copy-table"), "other")
	all("copy", "2,299 entities copied, 1 left as they are")
	if got := s.do("GET", "/other()", "", 200); !strings.Contains(got, `"N":-1`) {
		t.Error("the copy replaced an entity that was there")
	}
	b.set(at("filter"), "PartitionKey eq 'a'")
	b.click(at("run"))
	b.seeText(at("status"), "767 rows")
	b.click(at("bulk"))
	b.click(at("bulk-delete"))
	b.set(at("confirm"), "man")
	b.wait(`document.querySelector(%s).disabled`, at("bulk-begin"))
	b.set(at("confirm"), "many")
	b.wait(`!document.querySelector(%s).disabled`, at("bulk-begin"))
	all("delete", "767 entities deleted. Finished.")
	if got := s.run("", "count", "many", "--from", s.connection); !strings.Contains(got, "1533") {
		t.Errorf("left: %s", got)
	}
}

func rowKey(i int) string {
	const digits = "0123456789"
	return string([]byte{digits[i/1000%10], digits[i/100%10], digits[i/10%10], digits[i%10]})
}

// The grid works by the keyboard: arrows move, Enter opens, Escape closes.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	js[bool](b, `(document.querySelector(%s).focus(), true)`, at("grid"))
	for _, key := range []string{"ArrowDown", "ArrowDown", "ArrowRight", "Enter"} {
		js[bool](b, `document.querySelector(%s).dispatchEvent(new KeyboardEvent("keydown", {key: %s, bubbles: true, cancelable: true})) || true`, at("grid"), key)
		b.wait(`document.activeElement === document.querySelector(%s)`, at("grid"))
	}
	b.seeText(at("entity-json"), "05:06:07.1234567Z")
	b.wait(`document.querySelector("#active-cell").textContent == "012"`)
	js[bool](b, `document.querySelector(%s).dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true, cancelable: true})) || true`, at("grid"))
	b.wait(`!document.querySelector(%s)`, at("entity"))
}

// Screen readers: axe finds nothing serious, in light and in dark.
func TestScreenReaders(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	js[bool](b, `(location.hash = "#/dev/people?pk=Bergen&rk=001", true)`)
	b.see(at("entity-json"))
	check := func(what string) {
		t.Helper()
		for _, found := range b.axe() {
			t.Errorf("%s: %s", what, found)
		}
	}
	check("light")
	b.click(at("theme"))
	b.click(at("theme"))
	b.wait(`document.documentElement.dataset.theme == "dark"`)
	check("dark")
	b.click(at("edit"))
	b.click(at("builder"))
	b.set(at("filter"), "Born ")
	check("editors")
	b.click(at("columns"))
	check("columns")
}

// axe returns what is serious for screen readers.
func (b *tab) axe() []string {
	b.Helper()
	source, err := os.ReadFile(filepath.FromSlash("../../functions/edgetable/explorer/page/node_modules/axe-core/axe.min.js"))
	if err != nil {
		b.Fatalf("%v; run functions/edgetable/explorer/page/install", err)
	}
	js[bool](b, "!!window.axe || ("+strings.TrimSuffix(strings.TrimSpace(string(source)), ";")+", true)")
	return js[[]string](b, `axe.run(document).then(r => r.violations.filter(v => v.impact == "serious" || v.impact == "critical").map(v => v.id + ": " + v.nodes[0].html))`)
}

package explorer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestScreenReaders checks that the program axe finds no accessibility problem in any view and any dialog,
// with light and dark colors.
func TestScreenReaders(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.use("people", append(people(), entity{"PartitionKey": "json", "RowKey": "1", "Data": `{"list":[1.0,{"deep":null}]}`})...)
	b := newTab(t)
	check := func(state string) {
		t.Helper()
		// The dark theme differs only in its colors.
		for theme, only := range map[string][]string{"light": nil, "dark": {"color-contrast"}} {
			b.theme(theme)
			for _, found := range b.axe(only...) {
				t.Errorf("%s, %s: %s", state, theme, found)
			}
			b.shot(theme + "-" + state)
		}
	}
	escape := func() {
		t.Helper()
		b.keys("\x1b")
		b.gone("dialog")
	}
	b.open(s.page)
	b.see(at("connect"))
	check("connect")
	b.connect(s.connection)
	check("tables")
	b.click(at("create-table"))
	check("create")
	escape()
	js[bool](b, `(location.hash = location.hash.replace(/\?.*/, "") + "/people?pk=Bergen&rk=001", true)`)
	b.seeText(at("entity-json"), "Ada")
	check("entity")
	b.click(at("form-list"))
	b.see(`[data-test="entity"] dl`)
	json := js[string](b, `location.hash.replace(/\?.*/, "?pk=json&rk=1")`)
	b.visit(json)
	b.see(at("json-tree"))
	check("json-tree")
	b.visit(strings.Replace(json, "?pk=json&rk=1", "?pk=Bergen&rk=001", 1))
	b.seeText(at("entity"), "Ada")
	b.click(at("builder"))
	b.click(at("add-condition"))
	b.set(at("filter"), "Born ")
	check("query")
	b.set(at("filter"), "")
	for _, menu := range []string{"columns", "history", "bulk", "copy", "files", "table-menu"} {
		b.click(at(menu))
		b.see(".menu > .panel")
		check(menu)
		b.keys("\x1b")
	}
	for _, kind := range []string{"set", "copy", "delete"} {
		b.click(at("bulk"))
		b.click(at("bulk-" + kind))
		b.see(at("bulk-ask"))
		check("bulk-" + kind)
		escape()
	}
	b.click(at("bulk"))
	b.click(at("bulk-set"))
	b.set(at("set-name"), "Mark")
	b.click(at("bulk-begin"))
	b.seeText(at("bulk-progress"), "5 entities changed. Finished.")
	check("bulk-work")
	b.click(at("bulk-close"))
	b.click(at("code"))
	b.see(at("code-text"))
	check("code")
	escape()
	b.click(at("help"))
	b.seeText("dialog", "this list")
	check("help")
	escape()
	b.click(at("table-menu"))
	b.click(at("delete-table"))
	b.see(at("confirm-table"))
	check("delete-table")
	escape()
	b.click(at("access-open"))
	for _, part := range []string{"token", "policies", "cors", "service", "keys"} {
		b.click(at("access-" + part))
		switch part {
		case "token":
			b.click("details > summary")
		case "policies":
			b.click(at("policy-add"))
		case "cors":
			b.click(at("cors-add"))
		case "service":
			b.seeText(at("service"), "By the hour")
		}
		check("access-" + part)
	}
	escape()
	b.click(at("files"))
	b.click(at("export-open"))
	b.click(at("export-begin"))
	b.seeText(at("export-progress"), "5 entities")
	check("export")
	escape()
	b.click(at("files"))
	b.click(at("import-open"))
	b.file(at("import-file"), "a.csv", "PartitionKey,RowKey,Name,Born\na,b,c,1\na/b,b,c,2\n")
	b.seeText(at("import-preview"), "Line 3")
	check("import")
	b.click(at("import-begin"))
	b.seeText(at("import-progress"), "1 refused")
	check("import-refused")
	b.click(at("import-close"))
	// The editor, and the dialog that merges two versions.
	b.click(at("edit"))
	b.click(at("add-property"))
	b.see(at("edit-panel"))
	check("edit")
	b.click(field("", "field-remove"))
	b.set(field("Name", "field-value"), "mine")
	s.do("PUT", "/people(PartitionKey='Bergen',RowKey='001')", `{"Name":"theirs"}`, 204)
	b.click(at("save-entity"))
	b.see(at("merge"))
	check("merge")
	// The table editor, reached by the keyboard.
	b.visit(js[string](b, `location.hash.replace(/\?.*/, "")`))
	b.gone(at("entity"))
	b.focus(at("grid"))
	for range 2 {
		b.keys(kb.ArrowRight)
	}
	b.chord(kb.F10, chromedp.ModifierShift)
	b.see(at("popup"))
	check("cell-menu")
	b.keys("\x1b")
	b.keys(kb.F2)
	b.keys("x\r")
	b.see(at("cell-editor"))
	check("cell-editor")
	b.keys("\x1b")
	b.paste("x\t12\n7\t13\n")
	b.see(at("paste-wrong"))
	check("paste")
	b.keys("\x1b")
	b.click(at("add"))
	b.see(at("offered"))
	check("new-entity")
	b.click(at("discard"))
	js[bool](b, `(document.querySelector(%s).click(), true)`, at("traffic"))
	b.see(at("heat"))
	check("traffic")
	// The options of a table.
	s.fill("Sessions", sessions(30, 4)...)
	b.visit(js[string](b, `location.hash.replace(/\/people.*/, "/Sessions?view=options")`))
	b.fill(at("expire-property"), "Nothing")
	b.see(at("expire-found"))
	check("options")
	b.set(at("options-json"), `{"expire": {"property": "a b"}}`)
	b.click(at("options-save"))
	b.see(at("show-place"))
	check("options-refused")
	b.set(at("options-json"), `{"expire": {"property": "Ends"}}`)
	b.click(at("options-save"))
	b.see(at("options-ask"))
	check("options-ask")
	b.fill(at("options-confirm"), "Sessions")
	b.click(at("options-agree"))
	b.see(at("expire-undo"))
	check("options-declared")
	b.visit(js[string](b, `location.hash.replace(/\?.*/, "?pk=ada&rk=008")`))
	b.see(at("ends"))
	b.see(at("row-ends"))
	check("entity-ends")
	// Check rows in live mode, while one of them is open in the editor.
	s.fed("Fed", people()...)
	b.visit(js[string](b, `location.hash.replace(/\/Sessions.*/, "/Fed")`))
	b.goLive()
	s.insert("Fed", entity{"PartitionKey": "Oslo", "RowKey": "005", "Name": "Alan"})
	b.seeText(at("live-line"), "1 change, the last ")
	b.gone(".fresh0, .fresh1")
	check("live")
	for i, theme := range []string{"light", "dark"} { // make a new highlight for each theme, because a highlight keeps the colors of its first theme
		b.theme(theme)
		s.do("PUT", "/Fed(PartitionKey='Oslo',RowKey='005')", fmt.Sprintf(`{"Name":"Alan","Born":%d}`, i), 204)
		b.see(":is(.fresh0, .fresh1)")
		for _, found := range b.axe("color-contrast") {
			t.Errorf("marks, %s: %s", theme, found)
		}
		b.gone(".fresh0, .fresh1")
	}
	b.visit(js[string](b, `location.hash + "?pk=Oslo&rk=005"`))
	b.click(at("edit"))
	s.do("PUT", "/Fed(PartitionKey='Oslo',RowKey='005')", `{"Name":"Turing"}`, 204)
	b.see(at("newer"))
	b.gone(".fresh0, .fresh1")
	check("live-newer")
	s.do("DELETE", "/Tables('Fed')", "", 204)
	b.see(at("live-said"))
	check("live-ended")
}

package explorer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// paste sends the grid a paste event with a text, as Ctrl+V does.
func (b *tab) paste(text string) {
	b.Helper()
	b.focus(at("grid"))
	js[bool](b, `(() => { const data = new DataTransfer(); data.setData("text/plain", %s)
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })); return true })()`, text)
}

// inGrid waits until the grid of rows has the focus.
func (b *tab) inGrid() {
	b.Helper()
	b.wait(`document.activeElement === document.querySelector(%s)`, at("grid"))
}

// active waits until the active cell, which has the focus, shows a text.
func (b *tab) active(text string) {
	b.Helper()
	b.wait(`document.querySelector("#active-cell")?.textContent == %s`, text)
}

// TestEditByKeyboard edits without a mouse. It changes values in their cells, also in several rows at once. It pastes a range
// after a preview, filters by a menu, imports a file, and undoes all of these changes.
func TestEditByKeyboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	get := func(rk, has, hasNot string) {
		t.Helper()
		if text := s.do("GET", "/people(PartitionKey='Oslo',RowKey='"+rk+"')", "", 200); !strings.Contains(text, has) || hasNot != "" && strings.Contains(text, hasNot) {
			t.Errorf("%s has %s, want %s and no %s", rk, text, has, hasNot)
		}
	}
	undo := func(said string) {
		t.Helper()
		b.inGrid()
		b.chord("z", chromedp.ModifierCtrl)
		b.seeText(`[role="gridcell"]`, said)
	}
	b.focus(at("grid"))
	b.keys(kb.F2)
	b.seeText(at("status"), "The keys and Timestamp cannot change.")
	b.keys(kb.ArrowDown)
	b.keys(kb.ArrowRight)
	b.keys(kb.ArrowRight)
	b.active("1906")
	// The page does not save an invalid value; Escape restores the old value.
	b.keys(kb.F2)
	b.wait(`document.activeElement?.matches(%s)`, at("cell-value"))
	b.keys("x")
	b.keys("\r")
	b.seeText(at("cell-editor"), "an Int32 has only digits")
	b.shot("cell-wrong")
	b.keys("\x1b")
	b.gone(at("cell-editor"))
	b.inGrid()
	b.active("1906")
	// Enter saves and moves down, Tab moves to the next column, F2 moves to the type.
	b.keys(kb.F2)
	b.keys("1907")
	b.shot("cell-editor")
	b.keys("\r")
	b.inGrid()
	b.active("1939")
	b.seeText(at("status"), "Saved Born of 1 row; Ctrl Z undoes it.")
	get("001", `"Born":1907`, "")
	b.keys(kb.F2)
	b.keys("1940")
	b.keys("\t") // moves to the column Id; this entity has no Id, so the page suggests the type of the column
	b.wait(`document.querySelector(%s)?.value == "Int64"`, at("cell-type"))
	b.wait(`document.activeElement?.matches(%s)`, at("cell-value"))
	b.keys("9223372036854775807")
	b.keys("\r")
	b.wait(`document.querySelectorAll('[role="gridcell"]') && [...document.querySelectorAll('[role="gridcell"]')].some(e => e.textContent == "9223372036854775807")`)
	get("012", `"Born":1940`, "")
	get("012", `"Id":"9223372036854775807"`, "")
	// Choose another type by the keyboard.
	b.keys(kb.ArrowLeft)
	b.keys(kb.F2)
	b.keys(kb.F2)
	b.wait(`document.activeElement?.matches(%s)`, at("cell-type"))
	b.keys("S") // selects the type String
	b.wait(`document.activeElement?.matches(%s)`, at("cell-value"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys("long ago")
	b.keys("\r")
	b.seeText(at("status"), "Saved Born of 1 row")
	get("013", `"Born":"long ago"`, "")
	undo("1930")
	get("013", `"Born":1930`, "")
	b.chord("z", chromedp.ModifierCtrl)
	b.wait(`![...document.querySelectorAll('[role="gridcell"]')].some(e => e.textContent == "9223372036854775807")`)
	undo("1939")
	undo("1906")
	get("012", `"Born":1939`, `"Id"`)
	// Change one column of several rows at once.
	b.keys(kb.Home)
	b.keys(kb.ArrowRight)
	b.keys(kb.ArrowRight)
	b.chord(kb.ArrowUp, chromedp.ModifierCtrl)
	b.chord(kb.ArrowDown, chromedp.ModifierShift)
	b.chord(kb.ArrowDown, chromedp.ModifierShift)
	b.keys(kb.F2)
	b.seeText(at("cell-editor"), "writes it to 3 selected rows")
	b.shot("cell-rows")
	b.chord("a", chromedp.ModifierCtrl)
	b.keys("7")
	b.chord("\r", chromedp.ModifierCtrl)
	b.seeText(at("changed"), "3 entities of people changed.")
	get("012", `"Born":7`, "")
	undo("1939")
	// Backspace removes the selected values.
	b.keys(kb.Backspace)
	b.seeText(at("changed"), "3 entities of people changed.")
	get("012", `"Name":"Barbara"`, "Born")
	undo("1939")
	// Paste a range after a preview: text becomes numbers, and an empty cell removes the value.
	b.chord(kb.ArrowUp, chromedp.ModifierCtrl)
	b.keys(kb.ArrowDown)
	b.paste("1\t12\r\nx\t13\r\n")
	b.seeText(at("paste-wrong"), "Oslo / 012: Born: an Int32 has only digits")
	b.wait(`document.querySelector(%s).disabled`, at("paste-write"))
	b.shot("paste-wrong")
	b.keys("\x1b")
	b.gone("dialog")
	b.paste("1\t12\r\n\t13\r\n")
	b.seeText(at("paste-sum"), "4 values in 2 entities")
	b.shot("paste")
	b.wait(`document.activeElement?.matches(%s)`, at("paste-write"))
	b.keys("\r")
	b.seeText(at("changed"), "2 entities of people changed.")
	get("001", `"Id":"12"`, "")
	get("012", `"Id":"13"`, "Born")
	undo("1906")
	get("012", `"Born":1939`, `"Id"`)
	// A pasted text with a heading that includes the key columns has whole entities. Some of them may be new.
	b.paste("PartitionKey\tRowKey\tName\tTimestamp\nOslo\t013\tEWD\t2020-01-01T00:00:00Z\nOslo\t099\tNew\t\n")
	b.seeText(at("paste-sum"), "2 values in 2 entities, 1 of them new")
	b.keys("\r")
	b.seeText(at("changed"), "2 entities of people changed.")
	get("099", `"Name":"New"`, "")
	undo("Edsger")
	s.do("GET", "/people(PartitionKey='Oslo',RowKey='099')", "", 404)
	// Open the menu of a cell.
	b.keys(kb.Home)
	b.keys(kb.ArrowRight)
	b.keys(kb.ArrowRight)
	b.keys(kb.ArrowDown)
	b.chord(kb.F10, chromedp.ModifierShift)
	b.see(at("popup"))
	b.shot("cell-menu")
	for range 2 {
		b.keys(kb.ArrowDown)
	}
	b.wait(`document.activeElement?.matches(%s)`, at("cell-filter"))
	b.keys("\r")
	b.has(at("filter"), "Born eq 1939")
	b.rows(1)
	// Import a file. The test sets the file directly, because it cannot use the browser's dialog for
	// files.
	tabTo := func(selector string) {
		t.Helper()
		for range 60 {
			if js[bool](b, `!!document.activeElement?.matches(%s)`, selector) {
				return
			}
			b.keys("\t")
		}
		t.Fatalf("the Tab key does not come to %s", selector)
	}
	tabTo(at("files"))
	b.keys("\r")
	tabTo(at("import-open"))
	b.keys("\r")
	b.file(at("import-file"), "more.csv", "PartitionKey,RowKey,Born\nOslo,100,1939\n")
	b.seeText(at("import"), "1 column may have other types than String")
	tabTo(at("import-suggest-Born"))
	b.shot("import-suggestion")
	b.keys("\r")
	b.has(at("import-type-Born"), "Int32")
	tabTo(at("import-begin"))
	b.keys("\r")
	b.seeText(at("import-progress"), "1 entity written. Finished.")
	tabTo(at("import-close"))
	b.keys("\r")
	b.gone("dialog")
	b.rows(2)
	b.quiet()
}

// TestCellConflict checks that an edit of a cell does not overwrite a change that another client has made meanwhile. The page
// must show both versions.
func TestCellConflict(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='012')", `{"Name":"theirs","Born":4}`, 204)
	b.born("2", "5")
	b.see(at("merge"))
	b.shot("cell-conflict")
	if text := b.text(at("merge")); !strings.Contains(text, "5") || !strings.Contains(text, "theirs") {
		t.Errorf("the two versions are %s", text)
	}
	// The comparison is open, and the save of another cell of the row is refused too.
	b.cell("2", "3", "77\r")
	b.seeText(at("merge"), "77")
	if text := b.text(at("merge")); !strings.Contains(text, "5") || !strings.Contains(text, "theirs") {
		t.Errorf("after the second refusal, the two versions are %s", text)
	}
	if got := s.do("GET", "/people(PartitionKey='Oslo',RowKey='012')", "", 200); !strings.Contains(got, `"Born":4`) {
		t.Errorf("before the user chose, the entity is %s", got)
	}
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), "theirs")
	if got := s.do("GET", "/people(PartitionKey='Oslo',RowKey='012')", "", 200); !strings.Contains(got, `"Born":5`) {
		t.Errorf("merged to %s", got)
	}
	b.gone(at("error"))
	// The other client has deleted the entity.
	s.do("DELETE", "/people(PartitionKey='Oslo',RowKey='013')", "", 204)
	b.born("3", "6")
	b.seeText(at("error"), "Somebody deleted this entity meanwhile.")
	b.has(field("Born", "field-value"), "6")
	// It is there again when another save in its row is refused.
	s.do("POST", "/people", `{"PartitionKey":"Oslo","RowKey":"013","Name":"again","Born":1}`, 201)
	b.born("3", "9")
	b.seeText(at("merge"), "again")
	b.click(at("discard"))
	// If the page shows only some properties, the comparison of the two versions shows only these too.
	b.visit("#/dev/people?select=Born")
	b.gone(`[data-head="Name"]`) // the rows of the view before may still be shown
	b.seeText(`[role="gridcell"]`, "1906")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='001')", `{"Name":"theirs","Born":7}`, 204)
	b.born("1", "8")
	b.see(at("merge"))
	if text := b.text(at("merge")); !strings.Contains(text, "Born") || !strings.Contains(text, "7") || strings.Contains(text, "Name") {
		t.Errorf("the two versions are %s", text)
	}
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"Born": 8`)
	if got := s.do("GET", "/people(PartitionKey='Oslo',RowKey='001')", "", 200); !strings.Contains(got, `"Born":8`) || !strings.Contains(got, `"Name":"theirs"`) {
		t.Errorf("merged to %s", got)
	}
	// What cannot be compared is in the message.
	b.click(row("0") + ` [data-col="2"]`)
	s.do("DELETE", "/people(PartitionKey='Bergen',RowKey='001')", "", 204)
	b.born("0", "10")
	b.seeText(at("error"), "Somebody deleted this entity meanwhile. Nothing is saved: 10")
	b.visit("#/dev/people?pk=Oslo&rk=012")
	b.seeText(at("entity-json"), `"RowKey": "012"`) // the entity before may still be shown
	b.click(at("edit"))
	b.click(at("edit-json"))
	b.set(at("json-text"), "{")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='012')", `{"Name":"theirs","Born":11}`, 204)
	b.born("1", "12")
	b.seeText(at("error"), "Nothing is saved: 12")
	b.wait(`location.hash.includes("rk=012")`) // the row of the form is active again, and this does not close the form
	b.has(at("json-text"), "{")
	b.quiet("412 (Precondition Failed)")
}

// born types a value in a cell of the column Born and presses Enter.
func (b *tab) born(line, value string) {
	b.Helper()
	b.cell(line, "2", value+"\r")
}

// cell replaces the text of a cell by typing.
func (b *tab) cell(line, column, keys string) {
	b.Helper()
	b.doubleClick(row(line) + ` [data-col="` + column + `"]`)
	b.see(at("cell-editor"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys(keys)
}

// TestPasteByKeys checks that Ctrl+V pastes with the events that the browser itself sends. The browser sends these events to
// the element that has its selection. After a click, that is the clicked cell. If the grid got the focus in another way, it
// may be any element.
//
// The test does not run beside others: all tabs share the clipboard, and TestPlainHTTP writes to it, too.
func TestPasteByKeys(t *testing.T) {
	s := serve(t)
	s.fill("people", append(people(), entity{"PartitionKey": "Oslo", "RowKey": "020", "Name": "one\r\ntwo"}, entity{"PartitionKey": "Oslo", "RowKey": "021", "Name": "x"})...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.mayCopy()
	cut := func() {
		t.Helper()
		b.focus(at("filter"))
		b.keys("7")
		b.chord("a", chromedp.ModifierCtrl)
		b.chord("x", chromedp.ModifierCtrl)
		b.has(at("filter"), "")
		b.keys("\x1b") // close the list of completions
		b.gone("#choices:not([hidden])")
	}
	pasted := func() {
		t.Helper()
		b.inGrid()
		b.chord("v", chromedp.ModifierCtrl)
		b.seeText(at("paste-sum"), "1 value in 1 entity")
		js[bool](b, `(document.addEventListener("keyup", e => window.received = e.target.id, { once: true, capture: true }), true)`)
		b.keys("\x1b")
		b.wait(`window.received === "grid"`) // the dialog is closed when the key is down, and the next event is for the grid
		b.gone("dialog")
	}
	cut()
	b.click(row("1") + ` [data-col="2"]`)
	pasted()
	b.keys(kb.ArrowDown)
	pasted()
	cut()
	b.focus(at("grid"))
	js[bool](b, `(getSelection().selectAllChildren(document.querySelector("h1, h2") ?? document.body), true)`)
	pasted()
	js[bool](b, `(getSelection().removeAllRanges(), true)`)
	pasted()
	// A text that was copied keeps the ends of its lines in a cell, and in the editor of a cell.
	name := func(line string) string { return row(line) + ` [data-col="4"]` }
	stored := func(rk, want string) {
		t.Helper()
		b.seeText(at("status"), "Saved Name of 1 row")
		if got := s.do("GET", "/people(PartitionKey='Oslo',RowKey='"+rk+"')", "", 200); !strings.Contains(got, want) {
			t.Errorf("the entity is %s, want %s", got, want)
		}
	}
	edit := func(line string) {
		t.Helper()
		b.click(name(line))
		b.keys(kb.F2)
		b.wait(`document.activeElement?.matches(%s)`, at("cell-value"))
	}
	b.click(name("4"))
	b.chord("c", chromedp.ModifierCtrl)
	b.seeText(at("status"), "Copied 1 cell.")
	b.click(name("3"))
	b.chord("v", chromedp.ModifierCtrl)
	b.seeText(at("paste-sum"), "1 value in 1 entity")
	b.keys("\r")
	b.gone("dialog")
	b.wait(`document.querySelector(%s).textContent == document.querySelector(%s).textContent`, name("3"), name("4"))
	edit("2")
	b.chord("a", chromedp.ModifierCtrl)
	b.chord("v", chromedp.ModifierCtrl)
	b.has(at("cell-value"), "one\ntwo")
	b.keys("\r")
	stored("012", `"Name":"one\r\ntwo"`)
	stored("013", `"Name":"one\r\ntwo"`)
	// So does a part of a text that is copied in an editor and pasted beside another text.
	edit("4")
	js[bool](b, `(document.querySelector(%s).setSelectionRange(1, 7), true)`, at("cell-value"))
	b.chord("c", chromedp.ModifierCtrl)
	b.keys("\x1b")
	edit("5")
	b.keys(kb.End)
	b.chord("v", chromedp.ModifierCtrl)
	b.has(at("cell-value"), "xne\ntwo")
	b.keys("\r")
	stored("021", `"Name":"xne\r\ntwo"`)
	b.quiet()
}

// TestMenus checks that the right mouse button opens the menus of cells and columns.
func TestMenus(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	right := func(selector string) {
		t.Helper()
		p := js[[]float64](b, `(r => [r.left + 20, r.top + 8])(document.querySelector(%s).getBoundingClientRect())`, selector)
		b.do(chromedp.MouseEvent(chromedp.MousePressed, p[0], p[1], chromedp.ButtonRight, chromedp.ClickCount(1)),
			chromedp.MouseEvent(chromedp.MouseReleased, p[0], p[1], chromedp.ButtonRight, chromedp.ClickCount(1)))
		b.see(at("popup"))
	}
	b.clipboard()
	right(row("3") + ` [data-col="2"]`)
	b.seeText(at("popup"), "Filter by this value")
	b.click(at("cell-copy"))
	b.copied("1930")
	b.gone(at("popup"))
	right(`[data-head="Born"]`)
	b.shot("head-menu")
	b.click(at("head-copy"))
	b.wait(`window.copied == "Born"`)
	right(`[data-head="Born"]`)
	b.click(at("head-descending"))
	b.wait(`location.hash.includes("sort=-Born")`)
	b.click(`[data-head="Born"] .what`)
	b.inGrid() // set the focus, because Ctrl+A selects rows only if the grid has the focus
	right(`[data-head="Born"]`)
	b.click(at("head-hide"))
	b.gone(`[data-head="Born"]`)
	right(row("0") + ` [data-col="0"]`)
	b.keys("\x1b")
	b.gone(at("popup"))
	b.inGrid()
	b.quiet()
}

// TestNewEntity checks that the form for a new entity suggests the columns of the table with their types. It also checks that
// JSON in a text property is shown as a tree, and that the editor keeps all digits of its numbers.
func TestNewEntity(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", append(people(), entity{"PartitionKey": "json", "RowKey": "1", "Data": `{"big":9007199254740993,"list":[1.0,{"deep":null}],"text":"é"}`})...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.click(at("add"))
	b.set(field("PartitionKey", "field-value"), "new")
	b.set(field("RowKey", "field-value"), "1")
	b.seeText(at("offered")+" button", "Int64")
	b.shot("new-entity")
	js[bool](b, `([...document.querySelectorAll(%s)].find(e => e.innerText.includes("Id")).click(), true)`, at("offered")+" button")
	b.wait(`document.activeElement?.matches(%s)`, field("Id", "field-value"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys("9007199254740993")
	b.click(at("add-property"))
	b.wait(`document.activeElement?.matches(%s)`, field("", "field-name"))
	if text := b.text(at("edit-panel")); strings.Contains(text, "a name begins") {
		t.Error("a name is wrong before it was typed")
	}
	b.keys("Born")
	b.has(field("Born", "field-type"), "Int32")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), `"Id": "9007199254740993"`)
	b.focus(at("grid"))
	b.chord("z", chromedp.ModifierCtrl)
	b.gone(at("entity"))
	s.do("GET", "/people(PartitionKey='new',RowKey='1')", "", 404)

	b.visit("#/dev/people?pk=json&rk=1")
	b.click(at("form-list"))
	b.seeText(at("json-tree"), "9007199254740993")
	b.seeText(at("json-tree"), "1.0")
	b.shot("json-tree")
	b.click(at("edit"))
	b.click(at("json-layout"))
	b.has(field("Data", "field-value"), "{\n  \"big\": 9007199254740993,\n  \"list\": [\n    1.0,\n    {\n      \"deep\": null\n    }\n  ],\n  \"text\": \"é\"\n}")
	b.shot("json-editor")
	b.click(at("json-layout"))
	b.has(field("Data", "field-value"), `{"big":9007199254740993,"list":[1.0,{"deep":null}],"text":"é"}`)
	b.set(field("Data", "field-value"), `{"big":`)
	b.seeText(at("edit-panel"), "Not JSON, or not finished")
	b.click(at("discard"))
	b.quiet()
}

// TestTooMany checks that the page refuses to change more rows than it can change at once. The message must contain the
// number of rows and the limit.
func TestTooMany(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(1200)...)
	b := browse(t, s, "many")
	b.click(at("all"))
	b.seeText(at("status"), "1,200 rows, all")
	b.focus(at("grid"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys(kb.Delete)
	b.seeText(at("error"), "1,200 rows are selected, and at most 100 are deleted at once")
	b.keys(kb.Backspace)
	b.seeText(at("error"), "1,200 rows are selected, and at most 1,000 are changed at once")
	b.paste(strings.Repeat(fmt.Sprintln("a\tb"), 1001))
	b.seeText(at("status"), "Nothing was pasted: 1,001 rows; at most 1,000 at once.")
	b.quiet()
}

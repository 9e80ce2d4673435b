package explorer

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeyboard checks that everything can be done by the keyboard: choosing tables, the grid, sorting, column
// widths, opening an entity, its editor and the selection. The focus must never be lost.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("orders", entity{"PartitionKey": "x", "RowKey": "1"})
	b := newTab(t)
	b.enter("gateway", s, "")
	b.seeText(at("table"), "people")
	b.chord("k", chromedp.ModifierCtrl)
	b.keys("peo")
	b.keys("\r")
	b.seeText(`[role="gridcell"]`, "Barbara")
	inGrid := func() {
		t.Helper()
		b.wait(`document.activeElement === document.querySelector(%s)`, at("grid"))
	}
	active := func(text string) {
		t.Helper()
		b.wait(`document.querySelector("#active-cell")?.textContent == %s`, text)
	}
	for range 40 { // press Tab until the grid has the focus
		if js[bool](b, `document.activeElement === document.querySelector(%s)`, at("grid")) {
			break
		}
		b.keys("\t")
	}
	inGrid()
	for _, key := range []string{kb.ArrowDown, kb.ArrowDown, kb.ArrowRight} {
		b.keys(key)
	}
	active("012")
	b.keys("\r")
	b.seeText(at("entity-json"), "05:06:07.1234567Z")
	b.keys("\x1b")
	b.gone(at("entity"))
	inGrid()
	b.chord(kb.End, chromedp.ModifierCtrl)
	b.keys(kb.Home)
	active("Oslo")
	b.keys("s")
	b.wait(`document.querySelector('[aria-sort="ascending"]')?.innerText.startsWith("PartitionKey")`)
	for range 2 { // move to the column Born
		b.keys(kb.ArrowRight)
	}
	b.keys("s")
	b.keys("s")
	b.wait(`location.hash.includes("sort=-Born")`)
	b.seeText(at("status"), "sorted among all rows of this query")
	active("1815") // the active row is now the last row of the page
	width := `document.querySelector('[role="columnheader"][aria-sort="descending"]').getBoundingClientRect().width`
	before := js[float64](b, width)
	b.keys("+")
	b.wait(width+` == %s`, before+20)
	b.keys("-")
	b.wait(width+` == %s`, before)
	// The editor opens with the focus in a field. After saving, the focus returns to the grid.
	b.keys("e")
	b.wait(`document.activeElement?.matches(%s)`, field("Born", "field-value"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys("1816")
	b.chord("s", chromedp.ModifierCtrl)
	b.seeText(at("entity-json"), `"Born": 1816`)
	inGrid()
	b.keys(kb.Insert)
	b.wait(`document.activeElement?.matches(%s)`, field("PartitionKey", "field-value"))
	b.keys("\x1b")
	b.gone(at("edit-panel"))
	inGrid()
	// Delete two rows, and undo that.
	b.chord(kb.ArrowUp, chromedp.ModifierShift)
	b.keys(kb.Delete)
	b.seeText(at("deleted"), "2 entities of people deleted.")
	b.focus(at("grid"))
	b.chord("z", chromedp.ModifierCtrl)
	b.gone(at("deleted"))
	b.seeText(`[role="gridcell"]`, "1816")
	b.keys("?")
	b.seeText("dialog", "make the column wider or narrower")
	b.shot("help")
	b.keys("\x1b")
	b.gone("dialog")
	inGrid()
	b.quiet()
}

// TestColumns checks that columns can be hidden, moved and resized by the menu and by the mouse.
// Each table remembers its own columns, unless the user chooses one order for all tables.
func TestColumns(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("others", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	heads := func(want string) {
		t.Helper()
		b.wait(`[...document.querySelectorAll('[role="columnheader"]')].map(e => (e.querySelector(".what") ?? e).innerText.trim()).join(" ") == %s`, want)
	}
	heads("# PartitionKey RowKey Born Id Name Note At Timestamp")
	b.click(at("columns"))
	b.click(`[aria-label="Move Id to the left"]`)
	b.click(`[aria-label="Move Timestamp to the left"]`)
	heads("# PartitionKey RowKey Id Born Name Note Timestamp At")
	js[bool](b, `([...document.querySelectorAll(".columns label")].find(e => e.innerText.trim() == "Note").querySelector("input").click(), true)`)
	heads("# PartitionKey RowKey Id Born Name Timestamp At")
	b.seeText(at("columns"), "Columns (1 hidden)")
	b.shot("columns")
	b.keys("\x1b")
	// With the mouse, drag a heading before another heading, and drag its edge to resize its column.
	js[bool](b, `(() => { const head = name => [...document.querySelectorAll('[role="columnheader"]')].find(e => e.querySelector(".what")?.innerText.trim() == name)
		const at = (e, type) => e.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: new DataTransfer()}))
		at(head("Name"), "dragstart"); return new Promise(r => setTimeout(() => { at(head("Id"), "dragover"); at(head("Id"), "drop"); at(head("Name"), "dragend"); r(true) })) })()`)
	heads("# PartitionKey RowKey Name Id Born Timestamp At")
	wide := js[float64](b, `[...document.querySelectorAll('[role="columnheader"]')].find(e => e.querySelector(".what")?.innerText.trim() == "Name").getBoundingClientRect().width`)
	edge := js[[]float64](b, `(r => [r.left + 3, r.top + 10, r.width])(document.querySelectorAll('.resize')[2].getBoundingClientRect())`)
	b.do(chromedp.MouseEvent(chromedp.MousePressed, edge[0], edge[1], chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, edge[0]+60, edge[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, edge[0]+60, edge[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.wait(`[...document.querySelectorAll('[role="columnheader"]')].find(e => e.querySelector(".what")?.innerText.trim() == "Name").getBoundingClientRect().width == %s`, wide+60)
	b.reload()
	heads("# PartitionKey RowKey Name Id Born Timestamp At")
	b.wait(`[...document.querySelectorAll('[role="columnheader"]')].find(e => e.querySelector(".what")?.innerText.trim() == "Name").getBoundingClientRect().width == %s`, wide+60)
	b.visit("#/dev/others")
	heads("# PartitionKey RowKey Born Id Name Note At Timestamp")
	b.visit("#/dev/people")
	b.click(at("columns"))
	js[bool](b, `([...document.querySelectorAll(".columns footer button")].find(e => e.innerText == "Use for all tables").click(), true)`)
	b.visit("#/dev/others")
	heads("# PartitionKey RowKey Name Id Born Timestamp At")
	b.visit("#/dev/people")
	b.click(at("columns"))
	js[bool](b, `([...document.querySelectorAll(".columns footer button")].find(e => e.innerText == "Hide all but keys").click(), true)`)
	heads("# PartitionKey RowKey")
	js[bool](b, `([...document.querySelectorAll(".columns footer button")].find(e => e.innerText == "Show all").click(), true)`)
	heads("# PartitionKey RowKey Name Id Born Note Timestamp At")
	b.quiet()
}

// TestStates checks that the URL contains the state of the page: query, order, entity, view and the open part
// of a dialog. Only the theme is stored elsewhere, in the browser.
func TestStates(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.zone("Asia/Kolkata")
	b.enter("gateway", s, "people?filter=Born+gt+1900&sort=-Born&pk=Oslo&rk=013")
	b.seeText(at("entity-json"), "Edsger")
	b.wait(`document.querySelector(".row.open")?.innerText.includes("013")`) // the row of the entity in the URL is selected
	b.wait(`[...document.querySelectorAll(".row[data-row]")].map(e => e.querySelectorAll(".pins .cell")[2].innerText).join() == "012,013,001"`)
	b.has(at("filter"), "Born gt 1900")
	b.seeText(`[role="gridcell"]`, "2026-03-04 05:06:07.1234567Z")
	b.click(at("zone"))
	b.seeText(`[role="gridcell"]`, "2026-03-04 10:36:07.1234567 +05:30")
	b.click(at("theme"))
	b.click(at("theme"))
	b.wait(`document.documentElement.dataset.theme == "dark"`)
	b.click(at("access-open"))
	b.click(at("access-cors"))
	b.seeText(at("service"), "A page of another origin")
	b.wait(`location.hash.includes("access=cors")`)
	b.reload()
	b.seeText(at("service"), "A page of another origin")
	b.keys("\x1b")
	b.gone("dialog")
	b.wait(`!location.hash.includes("access")`)
	b.wait(`document.documentElement.dataset.theme == "dark"`)
	b.seeText(`[role="gridcell"]`, "2026-03-04 10:36:07.1234567 +05:30")
	b.seeText(at("entity-json"), "Edsger")
	// A change of the entity is shown in its row, which is not the first one.
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "E. W.")
	b.click(at("save-entity"))
	b.seeText(`[role="gridcell"]`, "E. W.")
	b.rows(3)
	// Refresh also reads the entity in the side panel again.
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='013')", `{"Name":"Dijkstra","Born":1930}`, 204)
	b.click(at("refresh"))
	b.seeText(at("entity-json"), "Dijkstra")
	b.click(at("latest"))
	b.wait(`location.hash.includes("sort=-Timestamp")`)
	b.wait(`document.querySelectorAll(".row[data-row]")[0].innerText.includes("Dijkstra")`)
	b.click(at("traffic"))
	b.see(at("heat"))
	b.wait(`location.hash.includes("view=traffic")`)
	js[bool](b, `(history.back(), true)`)
	b.seeText(`[role="gridcell"]`, "Dijkstra")
	b.click(at("zone"))
	b.quiet()
}

// TestUnseenInKeys checks that spaces and invisible characters in keys are made visible, because keys may
// differ only in such characters.
func TestUnseenInKeys(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": " a", "RowKey": "b  c d"}, entity{"PartitionKey": "a", "RowKey": "Å\u200b\u00a0\u202e"}, entity{"PartitionKey": "z ", "RowKey": ""})
	b := newTab(t)
	b.enter("gateway", s, "people")
	for _, want := range []string{"␣a", "b␣␣c d", "Å⟨200B⟩⟨00A0⟩⟨202E⟩", "z␣"} {
		b.wait(`[...document.querySelectorAll(".pins .cell")].some(e => e.textContent == %s)`, want)
	}
	b.shot("unseen")
}

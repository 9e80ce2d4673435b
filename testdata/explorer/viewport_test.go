package explorer

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// unreachable is a script that lists the controls that a user cannot reach: those outside the window, or
// covered by another element. It examines only the topmost layer, such as an open dialog.
const unreachable = `(() => {
	const narrow = innerWidth < 900
	const layer = document.querySelector("dialog[open]") ?? document.querySelector(".popup") ?? document.querySelector(".menu > .panel") ?? (narrow ? document.querySelector(".entity") ?? document.querySelector(".tables") : null) ?? document.body
	const found = []
	const layers = layer.matches(".entity") ? [layer, document.querySelector(".below")] : [layer] // an entity does not cover the line below the rows
	for (const e of layers.flatMap(l => [...l.querySelectorAll("button, input, select, textarea, summary, a[href], [tabindex='0']")])) {
		if (e.tabIndex < 0 || !e.checkVisibility({ visibilityProperty: true }) || e.closest('[role="grid"]') !== null && !e.matches('[role="grid"]')) continue
		const name = (e.dataset.test ?? "") + " " + (e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 30)
		let scrolls = false
		for (let p = e.parentElement; p; p = p.parentElement) scrolls ||= /auto|scroll/.test(getComputedStyle(p).overflowX) && p.scrollWidth > p.clientWidth + 1
		const before = e.getBoundingClientRect()
		if (!before.width || !before.height) continue
		if (!scrolls && (before.left < -0.5 || before.right > innerWidth + 0.5)) found.push(name + " is beside the window, " + before.left + " to " + before.right)
		e.scrollIntoView({ block: "nearest", inline: "nearest" })
		const r = e.getBoundingClientRect()
		const [x, y] = [Math.min(r.left + r.width / 2, innerWidth - 1), r.top + Math.min(r.height / 2, 10)]
		if (r.top < -0.5 || y > innerHeight) found.push(name + " is above or below the window, " + r.top + " to " + r.bottom)
		const hit = document.elementFromPoint(x, y)
		if (!hit || !e.contains(hit) && !hit.contains(e) && !(hit.closest("label")?.contains(e) ?? false)) found.push(name + " is under " + (hit?.outerHTML ?? "nothing").slice(0, 100))
	}
	if (document.documentElement.scrollWidth > innerWidth) found.push("the page is " + document.documentElement.scrollWidth + " pixels wide")
	for (const e of document.querySelectorAll("main > .scroll, .fields")) if (e.scrollWidth > e.clientWidth + 1) found.push("what is in the window is " + e.scrollWidth + " pixels wide")
	return found
})()`

// TestViewport checks that no control is outside the window or covered by another one, from the
// size of a phone to a wide screen.
func TestViewport(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.use("people", people()...)
	s.fill("AVeryLongNameOfATableThatNobodyWouldChooseButThatIsPermitted1",
		append(people(), entity{"PartitionKey": "Oslo", "RowKey": "014", "AVeryLongNameOfAPropertyThatNobodyWouldChooseButThatIsPermitted": 1})...)
	s.do("POST", "/Tables", `{"TableName":"empty"}`, 201)
	s.fill("Sessions", sessions(30, 4)...)
	b := newTab(t)
	b.open(s.page)
	b.see(at("connect"))
	sizes := [][2]int64{{360, 640}, {390, 844}, {768, 1024}, {1440, 900}, {2560, 1440}}
	everywhere := func(state string) {
		t.Helper()
		for _, size := range sizes {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.wait(`innerWidth == %s`, size[0])
			js[bool](b, `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
			for _, found := range js[[]string](b, unreachable) {
				t.Errorf("%s at %d pixels: %s", state, size[0], found)
			}
			for _, theme := range shotThemes() {
				b.theme(theme)
				b.shot(fmt.Sprintf("viewport-%s-%d-%s", state, size[0], theme))
			}
		}
		b.do(chromedp.EmulateViewport(1280, 800))
	}
	everywhere("connect")
	b.connect(s.connection)
	b.seeText(at("home-table"), "people")
	everywhere("home")
	account := js[string](b, `location.hash`)
	show := func(route string) { b.visit(account + "/" + route) }
	show("people")
	b.seeText(at("status"), "4 rows")
	everywhere("rows")
	show("AVeryLongNameOfATableThatNobodyWouldChooseButThatIsPermitted1")
	b.seeText(at("status"), "5 rows")
	everywhere("long-name")
	b.click(at("add"))
	b.see(at("offered"))
	everywhere("long-name-new-entity")
	b.click(at("discard"))
	show("AVeryLongNameOfATableThatNobodyWouldChooseButThatIsPermitted1?pk=Oslo&rk=014")
	b.click(at("edit"))
	b.see(at("edit-panel"))
	everywhere("long-name-edit")
	b.click(at("discard"))
	show("empty")
	b.see(at("empty-add"))
	everywhere("empty")
	show("people?filter=Born%20gt%203000")
	b.see(at("show-all"))
	b.set(at("filter"), "Born gt 1900 and Name eq 'x'")
	b.see(at("stale"))
	b.focus(at("filter"))
	b.keys("\x1b") // close the list of completions
	b.gone("#choices:not([hidden])")
	b.click(at("builder"))
	b.see(at("builder-panel"))
	everywhere("query")
	b.set(at("filter"), "")
	b.focus(at("filter"))
	b.keys("\x1b")
	b.click(at("builder"))
	show("people?pk=Bergen&rk=001")
	b.see(at("entity"))
	everywhere("entity")
	b.click(at("edit"))
	b.see(at("edit-panel"))
	everywhere("edit")
	b.click(at("discard"))
	b.click(at("close-entity"))
	b.click(at("add"))
	b.see(at("offered"))
	everywhere("new-entity")
	b.click(at("discard"))
	b.focus(at("grid"))
	b.keys(kb.Home)
	for range 2 {
		b.keys(kb.ArrowRight)
	}
	b.keys(kb.F2)
	b.see(at("cell-editor"))
	everywhere("cell-editor")
	b.keys("\x1b")
	b.paste("1\t12\n7\t13\n")
	b.see(at("paste-sum"))
	everywhere("paste")
	b.keys("\x1b")
	b.gone("dialog")
	for _, size := range sizes { // a menu at the mouse pointer closes when the window is resized
		js[any](b, `window.resized = innerWidth === %s ? null : new Promise((done) => addEventListener("resize", () => setTimeout(done), { once: true }))`+"; 0", size[0])
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		js[any](b, `window.resized`) // innerWidth changes before the event, which would close the menu
		b.focus(at("grid"))
		b.chord(kb.F10, chromedp.ModifierShift)
		b.see(at("popup"))
		for _, found := range js[[]string](b, unreachable) {
			t.Errorf("the menu of a cell at %d pixels: %s", size[0], found)
		}
		for _, theme := range []string{"light", "dark"} {
			b.theme(theme)
			b.shot(fmt.Sprintf("viewport-popup-%d-%s", size[0], theme))
		}
		b.keys("\x1b")
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	for _, menu := range []string{"columns", "history", "bulk", "copy", "files", "table-menu"} {
		b.click(at(menu))
		b.see(".menu > .panel")
		everywhere("menu-" + menu)
		b.keys("\x1b")
	}
	for _, part := range []string{"token", "policies", "cors", "service", "keys"} {
		show("people?access=" + part)
		b.see(at("access"))
		everywhere("access-" + part)
	}
	b.keys("\x1b")
	b.click(at("files"))
	b.click(at("import-open"))
	everywhere("import")
	b.file(at("import-file"), "a.csv", "city,number,Name\nOslo,1,Ada\n")
	b.see(at("import-pk"))
	everywhere("import-columns")
	b.keys("\x1b")
	b.click(at("code"))
	b.see(at("code-text"))
	everywhere("code")
	b.keys("\x1b")
	b.click(at("help"))
	everywhere("help")
	b.keys("\x1b")
	show("people?view=traffic")
	b.see(at("heat"))
	b.see(at("findings"))
	everywhere("traffic")
	show("Sessions?view=options")
	b.fill(at("expire-property"), "Ends")
	b.see(at("expire-found"))
	everywhere("options")
	b.set(at("options-json"), `{"expire": {"property": "Ends", "after": "P1M"}}`)
	b.click(at("options-save"))
	b.see(at("show-place"))
	everywhere("options-refused")
	b.set(at("options-json"), `{"expire": {"property": "Ends", "after": "P1DT12H"}}`)
	b.click(at("options-save"))
	b.see(at("options-ask"))
	everywhere("options-ask")
	b.fill(at("options-confirm"), "Sessions")
	b.click(at("options-agree"))
	b.see(at("expire-undo"))
	everywhere("options-declared")
	show("Sessions?pk=ada&rk=008")
	b.see(at("ends"))
	everywhere("entity-ends")
	b.click(at("close-entity"))
	b.see(at("row-ends"))
	everywhere("rows-end")
	s.fed("Fed", people()...)
	show("Fed")
	b.goLive()
	s.insert("Fed", entity{"PartitionKey": "Oslo", "RowKey": "005", "Name": "Alan"})
	b.seeText(at("live-line"), "1 change, the last ")
	everywhere("live")
	b.focus(at("grid"))
	b.keys(kb.End + kb.ArrowLeft)
	b.keys(kb.F2)
	s.do("PUT", "/Fed(PartitionKey='Bergen',RowKey='001')", `{"Name":"Lovelace"}`, 204)
	b.see(at("cell-newer"))
	everywhere("live-cell-newer")
	b.keys("\x1b")
	show("Fed?pk=Oslo&rk=005")
	b.click(at("edit"))
	s.do("PUT", "/Fed(PartitionKey='Oslo',RowKey='005')", `{"Name":"Turing"}`, 204)
	b.see(at("newer"))
	everywhere("live-newer")
	b.click(at("discard"))
	b.click(at("close-entity"))
	s.do("DELETE", "/Tables('Fed')", "", 204)
	b.see(at("live-said"))
	everywhere("live-ended")
	// On a phone, the list of tables is a panel that opens over the page.
	b.do(chromedp.EmulateViewport(390, 844))
	b.gone(at("tables"))
	b.click(at("sidebar"))
	b.see(at("tables"))
	for _, found := range js[[]string](b, unreachable) {
		t.Errorf("the list of tables: %s", found)
	}
	b.shot("viewport-tables-390-dark")
	b.seeText(at("table"), "people")
	b.click(at("table"))
	b.gone(at("tables"))
	b.quiet("400 (", "412 (")
}

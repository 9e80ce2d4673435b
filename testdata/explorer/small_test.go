package explorer

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSelectAllAndSort checks that Ctrl+A selects rows wherever the focus is, and that the first row
// is visible after sorting.
func TestSelectAllAndSort(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(300)...)
	b := browse(t, s, "many")
	b.seeText(at("status"), "300 rows")
	b.focus(at("latest"))
	b.chord("a", chromedp.ModifierCtrl)
	b.wait(`document.querySelectorAll('.row[aria-selected="true"]').length > 10`)
	if text := js[string](b, `getSelection().toString()`); text != "" {
		t.Errorf("Ctrl A selects the text %.60q", text)
	}
	b.wait(`document.activeElement.id == "grid"`)
	js[bool](b, `(document.getElementById("grid").scrollTop = 4000, true)`)
	b.seeText(`.row .gutter`, "140")
	b.keys("s")
	b.wait(`location.hash.includes("sort=")`)
	b.wait(`document.getElementById("grid").scrollTop == 0`)
	b.seeText(`.row .gutter`, "1")
}

// TestRoom checks the layout: windows keep a distance from the edge, a phone shows the names of
// tables, and a wide screen is used fully.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.use("CustomerOrders", people()...)
	b := newTab(t)
	b.enter("endpoint", s, "CustomerOrders")
	b.seeText(at("status"), "4 rows")
	b.click(at("code"))
	b.see(at("code-text"))
	for _, width := range []int64{390, 1280} {
		b.do(chromedp.EmulateViewport(width, 844))
		b.wait(`innerWidth == %s`, width)
		b.wait(`document.querySelector("dialog pre.code").getBoundingClientRect().left - document.querySelector("dialog").getBoundingClientRect().left >= 16`)
		b.wait(`document.querySelector("dialog").getBoundingClientRect().right - document.querySelector("dialog pre.code").getBoundingClientRect().right >= 16`)
	}
	b.keys("\x1b")
	b.gone("dialog")
	b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?view=traffic"`))
	b.do(chromedp.EmulateViewport(2560, 1440))
	b.see(at("heat"))
	js[bool](b, `(document.querySelector(".heat canvas").classList.remove("single"), true)`) // the picture of the traffic (the map) is low if there is a single range
	b.wait(`document.querySelector(".heat canvas").clientHeight >= 600`)
	b.wait(`document.querySelector(%s).getBoundingClientRect().right > 2200`, at("shapes"))
	b.do(chromedp.EmulateViewport(390, 844))
	b.visit(js[string](b, `location.hash.replace(/\/CustomerOrders.*/, "")`))
	b.seeText(at("home-table"), "CustomerOrders")
	b.wait(`(e => e.scrollWidth <= e.clientWidth)(document.querySelector(".home .figures tbody th span"))`)
	b.shot("room-home-390")
}

// TestStopBesideEntity checks that the user can stop the page when it loads rows, whatever the size of the window, also while an
// entity or its form is open.
func TestStopBesideEntity(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(1200)...)
	connection, _ := s.through(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("NextPartitionKey") != "" {
			<-r.Context().Done() // until the page stops
		}
		return false
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "many?pk=a&rk=0000")
	b.see(at("entity"))
	for _, panel := range []string{"entity", "edit-panel"} {
		b.see(at(panel))
		for _, size := range [][2]int64{{360, 640}, {700, 1000}, {844, 390}, {1280, 800}} {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.wait(`innerWidth == %s`, size[0])
			b.click(at("more"))
			b.click(at("stop"))
			b.see(at("more"))
			b.shot(fmt.Sprintf("stop-%s-%d", panel, size[0]))
			if height := js[float64](b, `document.querySelector(%s).getBoundingClientRect().height`, at(panel)); height < 250 {
				t.Errorf("%s at %d x %d pixels is %f high", panel, size[0], size[1], height)
			}
		}
		if panel == "entity" {
			b.click(at("edit"))
		}
	}
}

// TestPoints checks that the decimal points of Doubles are aligned, whatever number of digits follows them. Other
// numbers must be aligned at the right.
func TestPoints(t *testing.T) {
	t.Parallel()
	s := serve(t)
	list := people()
	for i, value := range []float64{1.5, -1234.25, 20, 0.125} {
		list[i]["Rate@odata.type"], list[i]["Rate"] = "Edm.Double", value
	}
	s.fill("people", list...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "-1234.25")
	b.shot("points")
	// The decimal points must be at the same horizontal position, and each text must be fully visible.
	b.wait(`(() => {
		const cells = [...document.querySelectorAll('[role="gridcell"]')].filter(e => /^-?[\d]+\.\d+$/.test(e.textContent))
		const at = cells.map(e => {
			const range = document.createRange()
			range.setStart(e.firstChild, e.textContent.indexOf("."))
			range.setEnd(e.firstChild, e.textContent.indexOf(".") + 1)
			return range.getBoundingClientRect().left
		})
		return cells.length == 4 && Math.max(...at) - Math.min(...at) <= 1 && cells.every(e => e.scrollWidth <= e.clientWidth)
	})()`)
	b.quiet()
}

// TestRunOnPhone checks the list of completions on a phone. The keyboard of a phone adds a blank after each word, and
// the blank opens the list again. Even on a narrow screen, the list must not cover a button of the query.
func TestRunOnPhone(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(at("status"), "4 rows")
	for _, width := range []int64{360, 390, 640, 768, 1000} {
		b.do(chromedp.EmulateViewport(width, 844))
		b.wait(`innerWidth == %s`, width)
		for _, filter := range []string{"Bo", "Born gt 1900 "} {
			b.fill(at("filter"), filter)
			b.see(at("choices"))
			b.shot(fmt.Sprintf("choices-%d-%d", len(filter), width))
			covered := js[[]string](b, `[...document.querySelectorAll(".query > .bar button")].filter(e => e.checkVisibility()).map(e => [e, e.getBoundingClientRect()])
				.filter(([e, r]) => document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)?.closest("#choices")).map(([e]) => e.title)`)
			if len(covered) > 0 {
				t.Errorf("%q at %d pixels: the completions cover %q", filter, width, covered)
			}
		}
	}
	b.quiet()
}

// TestWholeWords checks that the preview in a narrow window breaks no line within a key or within the name of a type.
func TestWholeWords(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	oneLine := func(selector string) {
		t.Helper()
		b.see(selector)
		if n := js[int](b, `(e => { const range = document.createRange(); range.selectNodeContents(e); return new Set([...range.getClientRects()].map(r => Math.round(r.bottom))).size })(document.querySelector(%s))`, selector); n != 1 {
			t.Errorf("%s has %d lines", selector, n)
		}
	}
	b.do(chromedp.EmulateViewport(390, 844))
	b.focus(at("grid"))
	b.keys(kb.ArrowRight + kb.ArrowRight)
	b.paste("1\t12\tname\n7\t13\tname\n")
	oneLine(".pasted tbody th")
	b.shot("words-paste-390")
	b.keys("\x1b")
	b.gone("dialog")
	b.do(chromedp.EmulateViewport(768, 1024))
	b.wizard("times.csv", "PartitionKey,RowKey,When\na,1,2024-01-02T03:04:05Z\na,2,2025-01-02T03:04:05Z\n")
	oneLine(at("import-suggest-When"))
	b.shot("words-import-768")
	b.quiet()
}

// TestFirstFrame checks that the first frame with rows draws only the visible rows. The rows below them must appear
// later.
func TestFirstFrame(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(300)...)
	b := browse(t, s, "many")
	b.seeText(at("status"), "300 rows")
	b.visit("#/dev")
	b.see(at("home-table"))
	js[bool](b, `(requestAnimationFrame(function look() {
		window.inView = document.querySelectorAll(".row .pins").length
		if (!inView) requestAnimationFrame(look)
	}), true)`)
	b.visit("#/dev/many")
	b.wait(`window.inView > 5 && document.querySelectorAll(".row .pins").length >= inView + 6`)
	b.quiet()
}

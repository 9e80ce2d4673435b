package explorer

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowse checks that tables, rows and one entity are shown, both through 'edgetable explorer'
// and on the server's own page.
func TestBrowse(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada", "Born": 1815, "Id@odata.type": "Edm.Int64", "Id": "9007199254740993"},
			entity{"PartitionKey": "a", "RowKey": "2", "Name": ""})
		s.fill("orders", entity{"PartitionKey": "x", "RowKey": "1"})
		b.enter(w, s, "")
		b.seeText(at("table"), "orders")
		b.fill(at("table-filter"), "peo")
		b.wait(`document.querySelectorAll(%s).length == 1`, at("table"))
		b.click(at("table"))
		b.seeText(`[role="gridcell"]`, "Ada")
		b.seeText(`[role="gridcell"]`, "9007199254740993") // all digits are shown
		b.shot("browse-" + string(w))
		b.wait(`location.hash.includes("people")`)
		js[bool](b, `(history.back(), true)`)
		b.wait(`!document.querySelector('[role="gridcell"]')`)
		js[bool](b, `(history.forward(), true)`)
		b.seeText(`[role="gridcell"]`, "Ada")
		b.quiet()
	})
}

// TestLink checks that a link opens one window, which keeps its session, and that the same link does not open
// a second window.
func TestLink(t *testing.T) {
	t.Parallel()
	s := serve(t)
	link := s.explore()
	b := newTab(t)
	b.open(link)
	b.seeText(at("account-open"), "dev")
	if at := js[string](b, `location.href`); strings.Contains(at, "token") {
		t.Errorf("the token stays in the address %s", at)
	}
	b.do(chromedp.Reload())
	b.seeText(at("account-open"), "dev")
	other := newTab(t)
	other.open(link)
	other.seeText("body", "printed last")
	other.shot("used-link")
}

// TestEntityOutsideTheRows opens a link to an entity that is not in the grid. A click on the row that is active already
// must open the entity of that row.
func TestEntityOutsideTheRows(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.enter("gateway", s, "people")
	b.seeText(`[role="gridcell"]`, "Ada")
	b.visit("#/dev/people?filter=" + url.PathEscape("PartitionKey eq 'Bergen'") + "&pk=Oslo&rk=013")
	b.seeText(at("entity-json"), "Edsger")
	b.wait(`document.querySelectorAll(".row[data-row]").length == 1`)
	b.click(row("0") + ` [data-col="2"]`)
	b.seeText(at("entity-json"), "Ada")
	b.wait(`location.hash.includes("pk=Bergen")`)
	b.quiet()
}

// TestReadOnly checks that for a read-only profile the page offers no writes, and gives the reason.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
	b := newTab(t)
	b.open(s.explore())
	b.seeText(at("account-open"), "dev")
	js[bool](b, `(location.hash = "#/prod/people?pk=a&rk=1", true)`)
	b.seeText(`[role="gridcell"]`, "Ada")
	b.see(at("read-only"))
	b.wait(`!document.querySelector(%s)`, at("create-table"))
	b.wait(`document.querySelector("header.top").dataset.color == "red"`)
	b.click(at("access-open"))
	b.see(at("no-key"))
	b.shot("read-only")
}

// TestManyRows checks that the first 1,000 rows appear before a user notices a delay. If a page has many
// columns, its document must contain only some of them.
func TestManyRows(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var list []entity
	for row := range 2500 {
		e := entity{"PartitionKey": "p", "RowKey": fmt.Sprintf("%05d", row)}
		for column := range 50 {
			e[fmt.Sprintf("C%02d", column)] = fmt.Sprintf("value %d of %d", column, row)
		}
		list = append(list, e)
	}
	s.fill("wide", list...)
	b := newTab(t)
	b.enter("gateway", s, "wide")
	b.seeText(`[role="gridcell"]`, "value 0 of 0")
	if cells := js[int](b, `document.querySelectorAll('[role="gridcell"]').length`); cells > 3000 {
		t.Errorf("%d cells are in the document", cells)
	}
	b.shot("wide")
}

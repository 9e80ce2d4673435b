package explorer

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestQuery checks the input field for the filter. The field completes names, marks errors, translates the
// filter for prefixes, remembers queries, and shows their cost.
func TestQuery(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.set(at("filter"), "Born > 5")
	b.seeText(at("problem"), "Character 6: expected eq, ne, gt, ge, lt or le (greater is gt)")
	b.wait(`document.querySelector(".filter mark").textContent == ">"`)
	// The button Run does not send a filter that the page knows to be invalid, and the shown rows stay.
	b.click(at("run"))
	b.has(at("filter"), "Born > 5")
	b.rows(4)
	if hash := js[string](b, `location.hash`); strings.Contains(hash, "filter=") {
		t.Errorf("a wrong filter ran: %s", hash)
	}
	b.shot("wrong-filter")
	b.fill(at("filter"), "startswith(RowKey, '01') and Bor")
	b.seeText(at("choices"), "Int32")
	b.keys("\t")
	b.keys("g")
	b.see(at("choices"))
	b.keys("t 1935") // the list of completions closes once the operator is complete
	b.wait(`!document.querySelector(%s).checkVisibility()`, at("choices"))
	b.chord(kb.Enter, chromedp.ModifierCtrl)
	b.rows(1)
	b.seeText(at("sent"), "(RowKey ge '01' and RowKey lt '02') and Born gt 1935")
	b.seeText(at("status"), "1 row, all that match")
	b.seeText(at("cost"), "1 page · 4 scanned")
	b.wait(`decodeURIComponent(location.hash.replaceAll("+", " ")).includes("startswith(RowKey, '01') and Born gt 1935")`)
	b.click(at("builder"))
	b.see(at("builder-panel"))
	b.wait(`document.querySelectorAll(".condition").length == 2`)
	b.click(at("add-condition"))
	b.choose(`.condition:nth-child(3) [aria-label="Operator"]`, "gt")
	b.set(`.condition:nth-child(3) [aria-label="Value"]`, "A")
	b.has(at("filter"), "startswith(RowKey, '01') and Born gt 1935 and PartitionKey gt 'A'")
	b.click(`.condition:nth-child(3) [aria-label="Remove the condition"]`)
	b.has(at("filter"), "startswith(RowKey, '01') and Born gt 1935")
	b.set(at("filter"), "")
	b.click(at("run"))
	b.rows(4)
	b.click(at("history"))
	b.click(at("ran"))
	b.rows(1)
	// Save a query under a name, run it again after a reload, and remove it.
	b.click(at("history"))
	b.set(at("save-name"), "late ones")
	b.click(at("save"))
	b.seeText(at("saved"), "late ones")
	b.keys("\x1b")
	b.set(at("filter"), "Born eq 1")
	b.click(at("run"))
	b.seeText(at("blank"), "No entity matches the filter.")
	b.seeText(at("status"), "0 rows")
	b.reload()
	b.seeText(at("blank"), "No entity matches the filter.")
	b.click(at("history"))
	b.click(at("saved"))
	b.rows(1)
	b.shot("query")
	b.click(at("history"))
	b.click(`[aria-label="Remove late ones"]`)
	b.gone(at("saved"))
	b.quiet()
}

// TestSelect checks that a query can request only some properties. From its rows, the user must still be able
// to open the whole entity. Undoing a deletion must restore the whole entity.
func TestSelect(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people?select=Name,%20Born")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.has(at("select"), "Name, Born")
	b.wait(`[...document.querySelectorAll('[role="columnheader"]')].map(e => (e.querySelector(".what") ?? e).innerText.trim()).join() == "#,PartitionKey,RowKey,Born,Name"`)
	before := stamped(s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 200))
	b.focus(at("grid"))
	b.keys("\r")
	b.seeText(at("entity-json"), "9007199254740993")
	b.click(at("delete"))
	b.seeText(at("deleted"), "1 entity of people deleted.")
	s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 404)
	b.click(at("undo"))
	b.gone(at("deleted"))
	if after := stamped(s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 200)); before != after {
		t.Errorf("it was\n%s\nit is\n%s", before, after)
	}
	b.quiet()
}

// TestCode checks the dialog that shows the query as a program in six languages. The dialog must remember the
// language, and must be able to copy the program.
func TestCode(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people?filter=startswith(RowKey,'01')&select=Name")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.clipboard()
	b.click(at("code"))
	for language, has := range map[string]string{
		"Python":     `query_entities("(RowKey ge '01' and RowKey lt '02')", select=["Name"])`,
		"JavaScript": `filter: "(RowKey ge '01' and RowKey lt '02')", select: ["Name"]`,
		"Go":         `filter := "(RowKey ge '01' and RowKey lt '02')"`,
		"Java":       `options.setFilter("(RowKey ge '01' and RowKey lt '02')");`,
		"C#":         `filter: "(RowKey ge '01' and RowKey lt '02')"`,
		"curl":       "RowKey%20ge%20%2701%27",
	} {
		js[bool](b, `([...document.querySelectorAll('[data-test="code-dialog"] .tabs button')].find(e => e.innerText == %s).click(), true)`, language)
		b.seeText(at("code-text"), has)
		b.wait(`document.querySelector('[data-test="code-dialog"] [aria-pressed="true"]').innerText == %s`, language)
		b.click(`[data-test="code-dialog"] .grow + button`)
		if got := b.copied(has); strings.Contains(got, "AccountKey=") {
			t.Errorf("%s has a key:\n%s", language, got)
		}
	}
	js[bool](b, `([...document.querySelectorAll('[data-test="code-dialog"] .tabs button')].find(e => e.innerText == "Go").click(), true)`)
	b.shot("code")
	b.keys("\x1b")
	b.gone("dialog")
	b.wait(`document.activeElement == document.querySelector(%s)`, at("code"))
	b.reload()
	b.click(at("code"))
	b.seeText(at("code-text"), "package main")
	b.quiet()
}

// TestCount checks that a count continues after the loaded pages, that the user can stop and resume it, and
// that it reports errors.
func TestCount(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var list []entity
	for i := range 2100 {
		list = append(list, entity{"PartitionKey": "p", "RowKey": fmt.Sprintf("%04d", i)})
	}
	s.fill("numbers", list...)
	var held atomic.Pointer[chan struct{}]
	var trouble atomic.Bool
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("$select") != "PartitionKey" || r.URL.Query().Get("NextPartitionKey") == "" {
			return false
		}
		if trouble.Load() {
			refuse(w, 403, "AuthorizationFailure", "not this one")
			return true
		}
		if wait := held.Load(); wait != nil {
			select {
			case <-*wait:
			case <-r.Context().Done():
			}
		}
		return false
	})
	wait := make(chan struct{})
	held.Store(&wait)
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "numbers")
	b.click(at("count"))
	b.seeText(at("count"), "1,000 … Stop")
	b.click(at("count"))
	b.seeText(at("count"), "1,000 so far: go on")
	close(wait)
	held.Store(nil)
	trouble.Store(true)
	b.click(at("count"))
	b.seeText(at("error"), "The token or the account does not permit this.")
	trouble.Store(false)
	b.click(at("retry"))
	b.seeText(at("count"), "2,100 in all")
	b.gone(at("error"))
}

package explorer

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLineEnds checks that an edit of a text keeps the ends of its lines. A textarea turns each of them into \n.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("notes", entity{"PartitionKey": "p", "RowKey": "1", "T": "one\r\ntwo"}, entity{"PartitionKey": "p", "RowKey": "2", "T": "a\r\nb\nc\rd"})
	stored := func(rk, want string) {
		t.Helper()
		if got := s.do("GET", "/notes(PartitionKey='p',RowKey='"+rk+"')", "", 200); !strings.Contains(got, want) {
			t.Errorf("the entity is %s, want %s", got, want)
		}
	}
	b := browse(t, s, "notes")
	b.see(row("1"))
	b.click(row("0") + ` [data-col="2"]`)
	b.keys(kb.F2)
	b.wait(`document.activeElement?.matches(%s)`, at("cell-value"))
	b.keys(kb.End)
	b.keys("!\r")
	b.seeText(at("status"), "Saved T of 1 row")
	stored("1", `"T":"one\r\ntwo!"`)
	b.visit("#/dev/notes?pk=p&rk=2")
	b.seeText(at("entity-json"), `"RowKey": "2"`)
	b.click(at("edit"))
	b.set(field("T", "field-value"), "a\nB\nc\nd")
	b.set(field("T", "field-value"), "a\nB\nc\nd\ne")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), `e"`)
	stored("2", `"T":"a\r\nB\nc\rd\ne"`)
	// Values that are copied and pasted keep them, too.
	b.clipboard()
	b.click(row("0") + ` [data-col="2"]`)
	b.chord(kb.ArrowDown, chromedp.ModifierShift)
	b.chord("c", chromedp.ModifierCtrl)
	b.wait(`window.copied == %s`, "\"one\r\ntwo!\"\n\"a\r\nB\nc\rd\ne\"")
	b.paste("\"one\ntwo!\"\n\"a\nB\nc\nd\ne\"") // as some systems change it
	b.seeText(at("paste-sum"), "Nothing would change")
	b.keys("\x1b")
	b.gone("dialog")
	// A spreadsheet changed one line of them, and the ends of all lines.
	b.paste("\"one\ntwo!\"\n\"a\nB\nc\nd\nE\"")
	b.seeText(at("paste-sum"), "1 value in 1 entity")
	b.click(at("paste-write"))
	b.gone("dialog")
	b.seeText(row("1"), "E")
	stored("2", `"T":"a\r\nB\nc\rd\nE"`)
	b.quiet()
}

// TestLineEndsOfPlaces checks that the ends of lines stay that the user did not change: if one of two line ends in a row is deleted,
// and if a change is undone.
func TestLineEndsOfPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("notes", entity{"PartitionKey": "p", "RowKey": "1", "T": "a\r\n\nb"}, entity{"PartitionKey": "p", "RowKey": "2", "T": "a\r\nb\nc\r\nd"})
	b := browse(t, s, "notes")
	b.see(row("1"))
	edit := func(line, rk string, from, to int, change func(), want string) {
		t.Helper()
		b.doubleClick(row(line) + ` [data-col="2"]`)
		b.see(at("cell-editor"))
		js[bool](b, `(document.querySelector(%s).setSelectionRange(%s, %s), true)`, at("cell-value"), from, to)
		change()
		b.keys("\r")
		b.gone(at("cell-editor"))
		b.seeText(at("status"), "Saved T of 1 row")
		if got := s.do("GET", "/notes(PartitionKey='p',RowKey='"+rk+"')", "", 200); !strings.Contains(got, want) {
			t.Errorf("the entity is %s, want %s", got, want)
		}
	}
	edit("0", "1", 1, 1, func() { b.keys(kb.Delete) }, `"T":"a\nb"`)
	edit("1", "2", 1, 7, func() {
		b.keys(kb.Delete)
		b.has(at("cell-value"), "a")
		js[bool](b, `document.execCommand("undo")`)
		b.has(at("cell-value"), "a\nb\nc\nd")
		js[bool](b, `(document.querySelector(%s).setSelectionRange(7, 7), true)`, at("cell-value"))
		b.keys("!")
	}, `"T":"a\r\nb\nc\r\nd!"`)
	b.quiet()
}

// leaving is an expression that is false if the page asks before the window is closed or loaded again.
const leaving = `dispatchEvent(new Event("beforeunload", {cancelable: true}))`

// TestKeptForm checks that a form that is not saved is still open after the user has visited another part of the page.
func TestKeptForm(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("other", entity{"PartitionKey": "p", "RowKey": "1"})
	b := browse(t, s, "people?pk=Oslo&rk=012")
	kept := func(name, text string) {
		t.Helper()
		to := func(table string) string { return at("table") + `[title="` + table + `"]` }
		for what, away := range map[string]func(){
			"another table": func() { b.click(to("other")); b.seeText(at("status"), "1 row"); b.gone(at("edit-panel")) },
			"home":          func() { b.click(at("home")); b.see(at("home-page")) },
			"traffic":       func() { b.click(at("traffic")); b.gone(at("edit-panel")) },
			"another account": func() {
				b.choose(at("account-open"), "prod")
				b.see(at("home-page"))
				b.choose(at("account-open"), "dev")
			},
		} {
			away()
			if js[bool](b, leaving) {
				t.Errorf("%s: the window can be closed", what)
			}
			b.click(to("people"))
			b.has(field(name, "field-value"), text)
		}
		b.visit("#/dev/other")
		b.gone(at("edit-panel"))
		js[bool](b, `(history.back(), true)`)
		b.has(field(name, "field-value"), text)
		b.click(at("discard"))
		b.gone(at("edit-panel"))
		b.click(to("other"))
		b.seeText(at("status"), "1 row")
		b.click(to("people"))
		b.seeText(`[role="gridcell"]`, "Barbara")
		b.gone(at("edit-panel"))
	}
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "typed")
	kept("Name", "typed")
	// A form that comes back leaves the focus in the list of tables.
	b.visit("#/dev/people?pk=Oslo&rk=013")
	b.seeText(at("entity-json"), "Edsger")
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "typed")
	b.click(at("home"))
	b.see(at("home-page"))
	b.focus(`nav [role="listbox"]`)
	b.keys(kb.End)
	b.has(field("Name", "field-value"), "typed")
	b.keys(kb.Home)
	b.seeText(at("status"), "1 row")
	b.keys(kb.End)
	b.click(at("discard"))
	b.click(at("add"))
	b.set(field("PartitionKey", "field-value"), "mine")
	kept("PartitionKey", "mine")
}

// TestOtherForm checks that a form in which nothing was typed is not kept, also if it is shown as JSON.
func TestOtherForm(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people?pk=Oslo&rk=012")
	for _, open := range []string{"edit", "add"} {
		b.click(at(open))
		b.click(at("edit-json"))
		b.see(at("json-text"))
		if !js[bool](b, leaving) {
			t.Errorf("%s: the page cannot be left, and nothing is typed", open)
		}
		b.set(at("json-text"), "{}")
		b.wait(`!` + leaving)
		b.click(at("discard"))
		b.wait(leaving)
	}
}

// TestDisconnect checks that the page asks before it forgets an account and a form that is not saved.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.enter("endpoint", s, "people")
	b.click(at("add"))
	b.set(field("PartitionKey", "field-value"), "mine")
	js[bool](b, `(window.questions = [], window.confirm = question => questions.push(question) > 1, true)`)
	b.click(at("disconnect"))
	b.wait(`questions.length == 1`)
	b.has(field("PartitionKey", "field-value"), "mine")
	b.click(at("disconnect"))
	b.see(at("open"))
	if !js[bool](b, leaving) {
		t.Error("the form is kept")
	}
	b.connect(s.connection)
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.gone(at("edit-panel"))
	b.click(at("disconnect"))
	b.see(at("open"))
	b.wait(`questions.length == 2`)
}

// TestSameName checks that an account gets nothing that was typed or stopped in an account of the same name at another endpoint.
func TestSameName(t *testing.T) {
	t.Parallel()
	home := serve(t)
	origin := strings.TrimSuffix(home.page, "/_/")
	arrived, release := make(chan struct{}), make(chan struct{})
	var holds atomic.Int32
	connections := []string{"", ""}
	for i := range connections {
		s := serve(t)
		s.fill("many", numbered(1200)...)
		s.cors(origin, "etag,x-ms-*")
		connections[i], _ = s.through(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/$batch") && r.Method == http.MethodPost && holds.Add(-1) == 0 {
				arrived <- struct{}{}
				<-release
			}
			return false
		})
	}
	t.Cleanup(func() { close(release) })
	b := newTab(t)
	b.open(home.page)
	b.connect(connections[0])
	b.click(at("table"))
	b.seeText(at("status"), "1,000 rows loaded")
	holds.Store(1)
	b.click(at("bulk"))
	b.click(at("bulk-delete"))
	b.set(at("confirm"), "many")
	b.click(at("bulk-begin"))
	b.held(arrived)
	b.click(at("bulk-stop"))
	release <- struct{}{}
	b.seeText(at("bulk-progress"), "Stopped")
	b.click(at("bulk-close"))
	b.seeText(at("status"), "200 rows")
	b.click(at("bulk"))
	b.see(at("bulk-resume"))
	b.keys("\x1b")
	b.set(at("filter"), "N gt 5")
	b.see(at("stale"))
	b.set(at("table-filter"), "m")
	b.click(at("disconnect"))
	b.connect(connections[1])
	b.seeText(at("table"), "many")
	b.has(at("table-filter"), "")
	b.seeText(at("status"), "1,000 rows loaded")
	b.has(at("filter"), "")
	b.click(at("bulk"))
	b.see(at("bulk-delete"))
	b.gone(at("bulk-resume"))
}

// TestLeaveCell checks that the page asks before it is left while a cell has a text that is not saved.
func TestLeaveCell(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.doubleClick(row("2") + ` [data-col="2"]`)
	b.has(at("cell-value"), "1939")
	if !js[bool](b, leaving) {
		t.Error("the page cannot be left, and nothing is typed")
	}
	b.set(at("cell-value"), "1940")
	b.wait(`!` + leaving)
	b.keys("\x1b")
	b.gone(at("cell-editor"))
	b.wait(leaving)
}

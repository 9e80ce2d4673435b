package explorer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// losing returns a server behind a proxy. While mode is "lose", the server executes writes, but their answers get lost;
// while it is "busy", writes are refused for a second, and while it is "long", for a minute. Each is for one write. The number
// of batches is counted.
func losing(t *testing.T) (s *server, b *tab, mode *atomic.Value, batches *atomic.Int32) {
	t.Helper()
	s = serve(t)
	home, err := url.Parse(s.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	real := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	mode, batches = &atomic.Value{}, &atomic.Int32{}
	mode.Store("")
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		if strings.HasSuffix(r.URL.Path, "/$batch") {
			batches.Add(1)
		}
		switch now := mode.Swap(""); now {
		case "lose":
			real.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case "busy", "long":
			w.Header().Set("Retry-After", map[any]string{"busy": "1", "long": "60"}[now])
			refuse(w, http.StatusServiceUnavailable, "ServerBusy", "The server is busy.")
			return true
		}
		return false
	})
	b = newTab(t)
	b.open((&server{t: t, connection: connection}).explore())
	b.seeText(at("account-open"), "dev")
	return s, b, mode, batches
}

// TestLostSave checks that the page does not take a save of its own, whose answer was lost, for a change by somebody else.
func TestLostSave(t *testing.T) {
	t.Parallel()
	s, b, mode, _ := losing(t)
	s.fill("people", people()...)
	b.visit("#/dev/people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	mode.Store("lose")
	b.born("2", "5")
	b.seeText(at("error"), "1 entity may have been changed: refresh, and look.")
	b.has(at("cell-value"), "5")
	b.keys("\r")
	b.seeText(at("status"), "Saved Born of 1 row; Ctrl Z undoes it.")
	b.gone(at("error"))
	b.visit("#/dev/people?pk=Oslo&rk=013")
	b.seeText(at("entity-json"), "Edsger")
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "typed")
	mode.Store("lose")
	b.click(at("save-entity"))
	b.see(at("error"))
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), "typed")
	b.gone(at("merge"))
}

// TestLateRefusal checks that a cell's text is not lost if its save is refused while the user is at another place.
func TestLateRefusal(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("other", entity{"PartitionKey": "p", "RowKey": "1"})
	var busy atomic.Bool
	var holds atomic.Int32
	arrived, release := make(chan struct{}), make(chan struct{})
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || holds.Add(-1) < 0 {
			return false
		}
		arrived <- struct{}{}
		<-release
		if busy.Load() {
			refuse(w, http.StatusServiceUnavailable, "ServerBusy", "The server is busy.")
		}
		return busy.Load()
	})
	t.Cleanup(func() { close(release) })
	hold := func() { holds.Store(1) }
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "people")
	to := func(table string) { b.click(at("table") + `[title="` + table + `"]`) }

	// The user is in another table.
	b.seeText(`[role="gridcell"]`, "Barbara")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='012')", `{"Name":"theirs","Born":4}`, 204)
	hold()
	b.born("2", "5")
	b.held(arrived)
	if js[bool](b, leaving) {
		t.Error("the window can be closed while a value is written")
	}
	to("other")
	b.seeText(at("status"), "1 row")
	release <- struct{}{}
	b.seeText(at("error"), "was changed since it was loaded")
	to("people")
	b.has(field("Born", "field-value"), "5")
	if text := b.text(at("error")); !strings.Contains(text, "was changed since it was loaded") {
		t.Errorf("after the user came back, the page says %q", text)
	}
	b.click(at("discard"))

	// The user types in the next cell.
	typing := func(value string) {
		t.Helper()
		hold()
		b.cell("2", "2", value+"\t")
		b.held(arrived)
		b.wait(`document.querySelector(%s)?.getAttribute("aria-label") == "Value of Id"`, at("cell-value"))
		b.chord("a", chromedp.ModifierCtrl)
		b.keys("12")
		release <- struct{}{}
	}
	typed := func() {
		t.Helper()
		b.keys("34")
		b.has(at("cell-value"), "1234")
		b.keys("\x1b")
		b.gone(at("cell-editor"))
	}
	b.seeText(`[role="gridcell"]`, "theirs")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='012')", `{"Name":"others","Born":6}`, 204)
	typing("7")
	b.seeText(at("merge"), "7")
	typed()
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"Born": 7`)
	busy.Store(true)
	typing("8")
	b.seeText(at("error"), "You typed: 8")
	typed()
}

// holding shows the table people behind a proxy that holds the next writes, as many as holds says. Each arrives, and is then
// released: it is refused by "busy", and goes to the server by "".
func holding(t *testing.T) (s *server, b *tab, holds *atomic.Int32, arrived chan struct{}, release chan string) {
	t.Helper()
	s = serve(t)
	s.fill("people", people()...)
	holds, arrived, release = &atomic.Int32{}, make(chan struct{}), make(chan string)
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || holds.Add(-1) < 0 {
			return false
		}
		arrived <- struct{}{}
		if <-release == "busy" {
			refuse(w, http.StatusServiceUnavailable, "ServerBusy", "The server is busy.")
			return true
		}
		return false
	})
	t.Cleanup(func() { close(release) })
	b = newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	return s, b, holds, arrived, release
}

// theirs changes an entity as another client does.
func (s *server) theirs(born int) {
	s.t.Helper()
	s.do("PUT", person("Oslo", "012"), fmt.Sprintf(`{"Name":"theirs","Born":%d}`, born), 204)
}

// nextCell replaces the text of the cell that Tab opened, in the column Id.
func (b *tab) nextCell(keys string) {
	b.Helper()
	b.wait(`document.querySelector(%s)?.getAttribute("aria-label") == "Value of Id"`, at("cell-value"))
	b.chord("a", chromedp.ModifierCtrl)
	b.keys(keys)
}

// closed closes a message with a text that is not saved. Then nothing is left that is not saved.
func (b *tab) closed() {
	b.Helper()
	b.click(at("error") + ` [aria-label="Close"]`)
	b.gone(at("error"))
	b.wait(leaving)
}

// TestSecondRefusal checks that no text is lost if a second save in the same row ends after the first one was refused.
func TestSecondRefusal(t *testing.T) {
	t.Parallel()
	s, b, holds, arrived, release := holding(t)
	said := func(text string) {
		t.Helper()
		if !js[bool](b, `[...document.querySelectorAll(%s)].some(e => e.innerText.includes(%s))`, at("error"), text) {
			t.Errorf("the page does not say any more: %s", text)
		}
		if js[bool](b, leaving) {
			t.Error("the window can be closed")
		}
	}

	// The first save is refused while the user types in the next cell, whose save succeeds.
	holds.Store(1)
	b.cell("2", "2", "7\t")
	b.held(arrived)
	b.nextCell("12")
	release <- "busy"
	b.seeText(at("error"), "You typed: 7")
	b.keys("\r")
	b.seeText(at("status"), "Saved Id of 1 row")
	said("You typed: 7")
	b.closed()

	// Both saves are refused after the user typed. The first cell is open again, and its save succeeds.
	holds.Store(2)
	b.cell("2", "2", "8\t")
	b.held(arrived)
	b.nextCell("13\r")
	b.gone(at("cell-editor"))
	release <- "busy"
	b.has(at("cell-value"), "8")
	b.held(arrived)
	release <- "busy"
	b.seeText(at("error"), "You typed: 13")
	b.keys("\r")
	b.seeText(at("status"), "Saved Born of 1 row")
	said("You typed: 13")
	b.closed()

	// The cell of a property is saved whose other value is in the form.
	s.theirs(6)
	b.born("2", "9")
	b.see(at("merge"))
	b.born("2", "10")
	b.seeText(at("merge"), "10")
	said("Nothing is saved: 9")
	b.click(at("discard"))
	b.closed()
}

// TestQuickCells checks that two cells of a row are saved that a user edits while the first save is under way. If another client
// changes the row meanwhile, the page shows the comparison.
func TestQuickCells(t *testing.T) {
	t.Parallel()
	s, b, holds, arrived, release := holding(t)
	both := func(held int32, born, id string) {
		t.Helper()
		holds.Store(held)
		b.cell("2", "2", born+"\t")
		b.held(arrived)
		b.nextCell(id + "\r")
		b.gone(at("cell-editor"))
	}
	both(1, "7", "12")
	release <- ""
	b.seeText(at("status"), "Saved Id of 1 row")
	b.wait(`document.querySelector(%s).textContent == "7"`, row("2")+` [data-col="2"]`)
	b.gone(at("merge"))

	both(2, "8", "13")
	release <- ""
	b.held(arrived)
	s.theirs(9)
	release <- ""
	b.seeText(at("merge"), "13")
}

// TestTypedWhileSaving checks that no text is lost that is typed in a form, or comes to it from a cell, while the form is saved.
func TestTypedWhileSaving(t *testing.T) {
	t.Parallel()
	s, b, holds, arrived, release := holding(t)

	// A save of the form is under way when the save of a cell in its row is refused.
	s.theirs(4)
	b.born("2", "5")
	b.see(at("merge"))
	holds.Store(1)
	b.click(at("save-merged"))
	b.held(arrived)
	b.cell("2", "3", "77\r")
	b.seeText(at("merge"), "77")
	release <- ""
	b.wait(`document.querySelector(%s).textContent == "5"`, row("2")+` [data-col="2"]`)
	b.seeText(at("merge"), "77")
	b.click(at("save-merged")) // it was compared with the version before
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"77"`)
	b.seeText(at("entity-json"), `"Born": 5`)

	// The user types in the form while its save is under way, which succeeds or is refused.
	name := field("Name", "field-value")
	typing := func(first, then string) {
		t.Helper()
		b.set(name, first)
		holds.Store(1)
		b.click(at("save-entity"))
		b.held(arrived)
		b.set(name, then)
		release <- ""
	}
	b.click(at("edit"))
	typing("one", "two")
	b.wait(`document.querySelector(%s).textContent == "one"`, row("2")+` [data-col="4"]`)
	b.has(name, "two")
	s.theirs(11)
	typing("three", "four")
	b.seeText(at("merge"), "four")
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), "four")
	b.gone(at("error"))
}

// TestLeftForm checks that the end of a form's save does not disturb a user who has gone to another entity or table.
func TestLeftForm(t *testing.T) {
	t.Parallel()
	s, b, holds, arrived, release := holding(t)
	s.fill("other", entity{"PartitionKey": "p", "RowKey": "1"})
	people := js[string](b, `location.hash`)
	name := field("Name", "field-value")
	save := func(text string) {
		t.Helper()
		b.visit(people + "?pk=Oslo&rk=012")
		b.seeText(at("entity-json"), `"RowKey": "012"`)
		b.click(at("edit"))
		b.set(name, text)
		holds.Store(1)
		b.click(at("save-entity"))
		b.held(arrived)
	}

	save("one")
	b.click(row("1") + ` [data-col="2"]`)
	b.seeText(at("entity-json"), "Grace")
	b.click(at("edit"))
	b.set(name, "two")
	release <- ""
	b.wait(`document.querySelector(%s).textContent == "one"`, row("2")+` [data-col="4"]`)
	b.has(name, "two")
	b.click(at("discard"))
	b.seeText(at("entity-json"), "Grace")

	save("three")
	b.keys("\x1b")
	release <- ""
	b.seeText(at("entity-json"), "three")

	save("four")
	b.visit(strings.Replace(people, "people", "other", 1))
	b.seeText(at("status"), "1 row")
	release <- ""
	b.wait(leaving) // it is saved
	if got := js[string](b, `location.hash`); strings.Contains(got, "pk=") {
		t.Errorf("the address is %s", got)
	}
	b.visit(people)
	b.seeText(row("2"), "four")
}

// TestLeftCell checks that a text in a cell is saved when the user leaves the table. If it is invalid, the page says so.
func TestLeftCell(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("other", entity{"PartitionKey": "p", "RowKey": "1"})
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.cell("1", "2", "1910")
	b.visit("#/dev/other")
	b.seeText(at("status"), "1 row")
	b.wait(leaving) // it is written
	b.visit("#/dev/people")
	b.seeText(row("1"), "1910")
	b.cell("1", "2", "x")
	b.visit("#/dev/other")
	b.seeText(at("error"), "Born: an Int32 has only digits. Nothing is saved: x")
	b.closed()
}

// TestPasteTrouble checks that a paste goes on after the service was busy, and that the page says what may have been
// written if an answer was lost. It says which row has a key that no entity can have.
func TestPasteTrouble(t *testing.T) {
	t.Parallel()
	s, b, mode, _ := losing(t)
	s.fill("people", people()...)
	b.visit("#/dev/people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	paste := func(pk string, n int) {
		t.Helper()
		var text strings.Builder
		text.WriteString("PartitionKey\tRowKey\tName\n")
		for i := range n {
			fmt.Fprintf(&text, "%s\t%s\tx\n", pk, rowKey(i))
		}
		b.paste(text.String())
		b.see(at("pasting"))
	}
	count := func(want string) {
		t.Helper()
		if got := s.run("", "count", "people", "--from", s.connection); !strings.Contains(got, want) {
			t.Errorf("there are %s, want %s", got, want)
		}
	}
	mode.Store("busy")
	paste("busy", 120)
	b.note(at("error"))
	b.click(at("paste-write"))
	b.noted("Trying again in 1 s.")
	b.seeText(at("added"), "120 entities of people added.")
	b.gone(at("error"))
	count("124")
	mode.Store("long")
	paste("stopped", 120)
	b.click(at("paste-write"))
	b.seeText(at("error"), "Trying again in 60 s.")
	b.click(at("stop-trying"))
	b.seeText(at("error"), "The server is busy. 100 entities may have been added: refresh, and look.")
	b.gone(at("stop-trying"))
	count("124")
	mode.Store("lose")
	paste("lost", 120)
	b.click(at("paste-write"))
	b.seeText(at("error"), "100 entities may have been added: refresh, and look.")
	count("224")
	paste("a/b", 1)
	b.seeText(at("paste-wrong"), `a/b / 0000: a key has none of / \ # ?`)
	b.wait(`document.querySelector(%s).disabled`, at("paste-write"))
}

// TestLostBatch checks that "All results" finds out at once what a batch did whose answer was lost, and not by a batch for
// each entity.
func TestLostBatch(t *testing.T) {
	t.Parallel()
	s, b, mode, batches := losing(t)
	var list []entity
	for i := range 250 {
		list = append(list, entity{"PartitionKey": "a", "RowKey": rowKey(i), "N": i})
	}
	s.fill("many", list...)
	b.visit("#/dev/many")
	b.seeText(at("status"), "250 rows")
	mode.Store("lose")
	b.click(at("bulk"))
	b.click(at("bulk-set"))
	b.set(at("set-name"), "Mark")
	b.set(at("set-value"), "x")
	b.click(at("bulk-begin"))
	b.seeText(at("bulk-progress"), "250 entities changed. Finished.")
	if n := batches.Load(); n > 5 {
		t.Errorf("the page sent %d batches, and three have all entities", n)
	}
}

package explorer

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// fed fills a table and gives the table a change feed.
func (s *server) fed(table string, entities ...entity) {
	s.t.Helper()
	s.fill(table, entities...)
	s.run("", "tables", "set", table, "--changes", "P1D", "--to", s.connection)
}

// person returns the URL path of an entity in the table people.
func person(city, number string) string {
	return fmt.Sprintf("/people(PartitionKey='%s',RowKey='%s')", city, number)
}

// goLive switches Live on, and waits until the page follows the changes of the shown rows.
func (b *tab) goLive() {
	b.Helper()
	b.click(at("live"))
	b.seeText(at("live-line"), "Live, no changes yet")
}

// column waits until the cells of a column have these texts, from top to bottom.
func (b *tab) column(index int, texts ...string) {
	b.Helper()
	b.wait(`[...document.querySelectorAll(".row[data-row]")].sort((a, b) => a.dataset.row - b.dataset.row).map(r => r.querySelector('[data-col="' + %s + '"]')?.textContent).join("|") == %s`, index, strings.Join(texts, "|"))
}

// polls returns how often the page has requested changes.
func (b *tab) polls() (n int) {
	for _, url := range b.asked() {
		if strings.Contains(url, "comp=changes") && strings.Contains(url, "since=") {
			n++
		}
	}
	return n
}

// TestLive checks that while Live is on, the shown rows follow the entities: rows change, appear at their position and
// disappear.
func TestLive(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.fed("people", people()...)
		s.fill("others", people()...)
		b.enter(w, s, "others")
		b.seeText(at("status"), "4 rows")
		b.visit(js[string](b, `location.hash.replace("others", "people")`))
		b.seeText(at("status"), "4 rows")
		b.goLive()
		s.insert("people", entity{"PartitionKey": "Oslo", "RowKey": "005", "Name": "Alan"})
		b.column(1, "001", "001", "005", "012", "013")
		b.seeText(at("live-line"), "1 change, the last ")
		b.see(`.row[data-row="2"] :is(.fresh0, .fresh1)`)
		b.shot("live-inserted")
		// Only a changed cell is highlighted.
		s.do("PUT", person("Oslo", "001"), `{"Name":"Hopper","Born":1906}`, 204)
		b.wait(`[...document.querySelectorAll('.row[data-row="1"] :is(.fresh0, .fresh1)')].map(e => e.textContent).join().startsWith("Hopper")`)
		s.do("DELETE", person("Oslo", "012"), "", 204)
		b.column(1, "001", "001", "005", "013")
		b.seeText(at("live-line"), "3 changes, the last ")
		b.seeText(at("status"), "4 rows, all that match")
		b.gone(".fresh0, .fresh1")

		// When rows are inserted above the selected row, this row stays selected. The side panel then still shows the
		// entity of this row.
		b.focus(at("grid"))
		b.keys(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + "\r")
		b.seeText(at("entity-json"), "Edsger")
		s.insert("people", entity{"PartitionKey": "Bergen", "RowKey": "000", "Name": "Tove"})
		b.column(1, "000", "001", "001", "005", "013")
		b.wait(`document.querySelector("#active-cell").closest(".row").dataset.row == "4"`)
		s.do("PUT", person("Oslo", "013"), `{"Name":"Dijkstra","Born":1930}`, 204)
		b.seeText(at("entity-json"), "Dijkstra")
		s.do("DELETE", person("Oslo", "013"), "", 204)
		b.gone(at("entity"))
		b.seeText(at("status"), "The entity was deleted, or has ended.")

		// The page itself applies a filter on keys to the changes; the service applies a filter on properties.
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?filter=Born%20gt%201900&select=Name"`))
		b.column(1, "001")
		b.seeText(at("live-line"), "changes")
		s.do("PUT", person("Oslo", "005"), `{"Name":"Turing","Born":1912}`, 204)
		b.column(1, "001", "005")
		s.do("PUT", person("Oslo", "001"), `{"Name":"Hopper"}`, 204)
		b.column(1, "005")
		b.column(2, "Turing")
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?filter=PartitionKey%20eq%20'Bergen'"`))
		b.column(1, "000", "001")
		s.insert("people", entity{"PartitionKey": "Oslo", "RowKey": "002"}, entity{"PartitionKey": "Bergen", "RowKey": "002"})
		b.column(1, "000", "001", "002")

		// When Live is off, the page requests no changes.
		b.click(at("live"))
		b.gone(at("live-line"))
		before := b.polls()
		s.insert("people", entity{"PartitionKey": "Bergen", "RowKey": "003"})
		b.click(at("refresh"))
		b.column(1, "000", "001", "002", "003")
		if after := b.polls(); after != before {
			b.Errorf("%d requests for changes after Live was switched off", after-before)
		}
		b.quiet()
	})
}

// TestLiveNeedsFeed checks that a table without a feed has no Live switch.
func TestLiveNeedsFeed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(at("status"), "4 rows")
	b.click(at("options"))
	b.seeText(at("changes-state"), "not declared")
	b.click(at("changes-on"))
	b.click(at("options-save"))
	b.seeText(at("options-said"), "Saved.")
	b.click(at("rows"))
	b.see(at("live"))
	b.click(at("options"))
	b.click(at("withdraw-changes"))
	b.seeText(at("changes-state"), "not declared")
	b.click(at("rows"))
	b.gone(at("live"))
}

// TestLiveToken checks Live with a SAS token. A token does not permit reading the table's options, so the page requests
// the change feed to find out whether the table has one.
func TestLiveToken(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fed("people", people()...)
	s.fill("others", people()...)
	b := newTab(t)
	b.open(s.page)
	b.click(at("way-string"))
	b.fill(at("secret"), s.endpoint+"?"+strings.TrimSpace(s.run("", "sas", "--permissions", "all", "--quiet")))
	b.click(at("open"))
	b.see(at("tables"))
	js[bool](b, `(location.hash = location.hash.replace(/\?.*/, "") + "/people", true)`)
	b.goLive()
	s.do("DELETE", person("Oslo", "012"), "", 204)
	b.column(1, "001", "001", "013")
	b.visit(js[string](b, `location.hash.replace("people", "others")`))
	b.seeText(at("status"), "4 rows")
	b.gone(at("live"))
}

// TestLiveEditing checks that a change on the server does not overwrite the text that the user is editing. The page
// must say that the server has a newer version, and the user must be able to choose between both.
func TestLiveEditing(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fed("people", people()...)
	b := browse(t, s, "people")
	b.goLive()
	b.focus(at("grid"))
	for _, key := range []string{kb.ArrowDown, kb.ArrowRight, kb.ArrowRight} {
		b.keys(key)
	}
	b.active("1906")
	b.keys(kb.F2)
	b.fill(at("cell-value"), "1907")
	// When another row is inserted above the edited row, the typed text moves with the edited row.
	s.insert("people", entity{"PartitionKey": "Alta", "RowKey": "1", "Name": "Above"})
	b.column(1, "1", "001", "001", "012", "013")
	b.has(at("cell-value"), "1907")
	b.gone(at("cell-newer"))
	s.do("PUT", person("Oslo", "001"), `{"Name":"Hopper","Born":1908}`, 204)
	b.seeText(at("cell-newer"), "The server has a newer version of this entity.")
	b.has(at("cell-value"), "1907")
	b.shot("live-cell-newer")
	// Send Enter as a keydown event only. The page handles this event, so a real browser would not also send a character.
	js[bool](b, `document.querySelector(%s).dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})) || true`, at("cell-value"))
	b.see(at("merge"))
	b.seeText(at("merge"), "1908")
	b.seeText(at("merge"), "Hopper")
	b.wait(`document.querySelector('[name="take-Born"]').checked && document.querySelectorAll('[name="take-Name"]')[1].checked`)
	b.shot("live-merge")
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"Born": 1907`)
	b.seeText(at("entity-json"), `"Name": "Hopper"`)
	b.column(2, "", "1815", "1907", "1939", "1930")

	// The editor of an entity also shows that the server has a newer version, or that the entity was deleted.
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "Mine")
	s.do("PUT", person("Oslo", "001"), `{"Name":"Theirs","Born":1}`, 204)
	b.seeText(at("newer"), "The server has a newer version of this entity. What you typed is not changed.")
	b.has(field("Name", "field-value"), "Mine")
	b.shot("live-newer")
	b.click(at("compare"))
	b.see(at("merge"))
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"Name": "Mine"`)
	b.seeText(at("entity-json"), `"Born": 1`)
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "Again")
	s.do("DELETE", person("Oslo", "001"), "", 204)
	b.seeText(at("newer"), "The server does not have this entity here any more.")
	b.click(at("compare"))
	b.seeText(at("error"), "Save inserts it again with your values.")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), "Again")
	b.column(1, "1", "001", "001", "012", "013")
	// The selection moves with its row. The side panel keeps its entity, because the user has selected no other row.
	b.wait(`document.querySelector("#active-cell").closest(".row").dataset.row == "3"`)
	js[bool](b, `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => r(true)))))`)
	if text := b.text(at("entity-json")); !strings.Contains(text, "Again") {
		t.Errorf("after a row came above the selection, the entity beside the grid is\n%s", text)
	}

	// Escape discards the edit and shows the newer value.
	b.click(at("close-entity"))
	b.focus(at("grid"))
	b.keys(kb.ArrowUp)
	b.active("1")
	b.keys(kb.F2)
	b.see(at("cell-editor"))
	s.do("PUT", person("Oslo", "001"), `{"Name":"Last","Born":7}`, 204)
	b.see(at("cell-newer"))
	b.keys("\x1b")
	b.column(2, "", "1815", "7", "1939", "1930")
}

// TestLiveTroubles checks that the page reports failures of a change feed, and continues to follow the feed if
// possible.
func TestLiveTroubles(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fed("people", people()...)
	var trouble atomic.Value
	trouble.Store("")
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("comp") != "changes" {
			return false
		}
		switch trouble.Load() {
		case "dead":
			panic(http.ErrAbortHandler)
		case "busy":
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "ServerBusy", "Too many requests of this account are waiting for changes.")
		case "expired":
			if r.URL.Query().Get("since") == "" {
				return false
			}
			trouble.Store("")
			refuse(w, http.StatusGone, "ChangesExpired", "Changes after the position are not kept any more.")
		case "none":
			refuse(w, http.StatusNotImplemented, "NotImplemented", "The store keeps no feeds.")
		default:
			return false
		}
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "people")
	b.goLive()
	change := func(born int) {
		t.Helper()
		s.do("PUT", person("Oslo", "001"), fmt.Sprintf(`{"Name":"Grace","Born":%d}`, born), 204)
	}
	for i, what := range []string{"dead", "busy"} {
		trouble.Store(what)
		change(i)
		b.seeText(at("live-said"), "Trying again in ")
		b.shot("live-" + what)
		trouble.Store("")
		b.gone(at("live-said"))
	}
	change(7)
	b.column(2, "1815", "7", "1939", "1930")
	// After the feed has lost changes, the page reads all rows again.
	trouble.Store("expired")
	change(8)
	b.seeText(at("live-said"), "Some changes are not kept any more, so the rows were read again.")
	b.column(2, "1815", "8", "1939", "1930")
	change(9)
	b.column(2, "1815", "9", "1939", "1930")
	// A hidden window sends no requests, and shows the missed changes when it is visible again.
	js[bool](b, `(Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true }), document.dispatchEvent(new Event("visibilitychange")))`)
	before := b.polls()
	change(10)
	js[bool](b, `(delete document.visibilityState, document.dispatchEvent(new Event("visibilitychange")))`)
	b.column(2, "1815", "10", "1939", "1930")
	if after := b.polls(); after > before+2 {
		t.Errorf("%d requests after the page was hidden and shown", after-before)
	}
	// The service has no change feeds, so the live mode ends.
	trouble.Store("none")
	change(11)
	b.seeText(at("live-said"), "Live has ended. Live needs change feeds, which this store does not support.")
	trouble.Store("")
	b.click(at("live"))
	b.column(2, "1815", "11", "1939", "1930")
	b.seeText(at("live-line"), "Live, no changes yet")
	s.do("DELETE", "/Tables('people')", "", 204)
	b.seeText(at("live-said"), "Live has ended. The table was deleted. These are its last rows.")
	b.shot("live-ended")
}

// TestLiveOtherOrigin checks that a page of another origin can follow a feed only if a CORS rule exposes the header
// with the feed's position. "Allow this page" makes such a rule.
func TestLiveOtherOrigin(t *testing.T) {
	t.Parallel()
	home := serve(t)
	b := newTab(t)
	b.open(home.page)
	b.connect(home.connection)
	account := js[string](b, `location.hash.replace(/\?.*/, "")`)
	b.visit(account + "?access=cors")
	b.click(at("cors-page"))
	b.see(at("cors-exposed"))
	ours := js[string](b, `document.querySelector(%s).value`, at("cors-exposed"))
	for exposed, live := range map[string]bool{"etag,x-ms-*": false, ours: true} {
		s := serve(t)
		s.fed("people", people()...)
		s.cors(strings.TrimSuffix(home.page, "/_/"), exposed)
		b := newTab(t)
		b.open(home.page)
		b.connect(s.connection)
		b.visit(account + "/people")
		b.seeText(at("status"), "4 rows")
		if live {
			b.goLive()
			s.do("DELETE", person("Oslo", "012"), "", 204)
			b.column(1, "001", "001", "013")
			continue
		}
		b.click(at("live"))
		b.seeText(at("live-said"), "Live has ended. This page comes from another address than the tables, and may not read the position of the feed.")
		b.seeText(at("live-said"), "must expose x-edgetable-next and x-ms-error-code")
		b.shot("live-not-exposed")
	}
}

// cors adds a CORS rule that permits pages of an origin to use the account and to read the exposed headers.
func (s *server) cors(origin, exposed string) {
	s.t.Helper()
	token := strings.TrimSpace(s.run("", "sas", "--permissions", "all", "--quiet"))
	body := `<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>` + origin + `</AllowedOrigins><AllowedMethods>GET,POST,PUT,DELETE,MERGE,OPTIONS</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds>` +
		`<ExposedHeaders>` + exposed + `</ExposedHeaders><AllowedHeaders>*</AllowedHeaders></CorsRule></Cors></StorageServiceProperties>`
	req, err := http.NewRequestWithContext(s.t.Context(), "PUT", s.endpoint+"/?restype=service&comp=properties&"+token, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/xml")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		s.t.Fatalf("CORS: %d", resp.StatusCode)
	}
}

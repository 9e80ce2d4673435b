package explorer

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestHome checks the start view, however the page was opened. The view must show the exact number of
// requests to every table, even if there are more tables than the 16 whose keys the server counts. The page
// must count entities only when the user asks for it.
func TestHome(t *testing.T) {
	t.Parallel()
	for _, w := range []way{"gateway", "endpoint"} {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			admin := filepath.Join(t.TempDir(), "s")
			s := serve(t, "--admin", admin)
			for i := range 20 {
				s.fill(fmt.Sprintf("Many%02d", i), numbered(30)...)
			}
			s.fill("Large", numbered(1200)...)
			b := newTab(t)
			if w == "gateway" {
				b.open(s.explore("--admin", admin))
				b.seeText(at("account-open"), "dev") // wait until the session has begun
				b.visit("#/dev")
			} else {
				b.open(s.page)
				b.connect(s.connection)
			}
			b.seeText(at("used"), "1,821") // 20 tables × 30 inserts, 1,200 inserts into the table Large, and a read by the import of each table
			b.wait(`[...document.querySelectorAll(%s)].filter(e => /\b30\b[^]*\b31\b/.test(e.innerText)).length == 20`, at("home-table"))
			b.gone(at("not-counted"))
			b.seeText(at("home-page"), "earlier traffic is unknown")
			b.seeText(at("home-table"), "1,000+")
			b.shot("home-" + string(w))
			b.click(at("count-all"))
			b.seeText(at("entities"), "1,800")
			b.gone(at("count-all"))
			b.seeText(at("home-table"), "about ")
			b.shot("home-counted-" + string(w))
			b.quiet()
		})
	}
}

// TestNotCounted checks that the page shows a dash, not a zero, for traffic that the server did not count.
func TestNotCounted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	s.fill("others", people()...)
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("comp") != "traffic" || r.URL.Path[len(r.URL.Path)-6:] != "others" {
			return false
		}
		// An older server counts only 16 tables, and returns an empty report for this one.
		fmt.Fprint(w, `{"since":"2026-01-01T10:00:00Z","until":"2026-01-01T10:00:00Z","totals":{},"heaviest":{},"map":{"starts":[{}],"minutes":[],"quarters":[]},"shapes":[]}`)
		return true
	})
	b := newTab(t)
	b.open(exploreProfiles(t, map[string]string{"dev": connection}))
	b.see(at("not-counted"))
	b.seeText(at("used"), "in 1 of 2 tables")
	b.quiet()
}

// TestAllOfIt checks that the command to load all rows loads all, even if the service is busy meanwhile.
// Copying a selection must copy all selected rows or nothing.
func TestAllOfIt(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(4200)...)
	var asked atomic.Int64
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("NextPartitionKey") == "" || asked.Add(1)%2 == 0 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "ServerBusy", "The server is busy.")
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "many")
	b.seeText(at("status"), "1,000 rows loaded")
	b.note(at("waiting"))
	b.click(at("all"))
	b.seeText(at("status"), "4,200 rows, all that match")
	b.noted("The server is busy. Trying again in 1 s.")
	b.gone(at("waiting"))
	b.gone(at("error"))
	b.clipboard()
	b.focus(at("grid"))
	b.chord("a", chromedp.ModifierCtrl)
	b.chord("c", chromedp.ModifierCtrl)
	b.seeText(at("status"), "Copied 4,200 rows.")
	b.wait(`window.copied.split("\n").length == 4201`)
	b.quiet("503 (Service Unavailable)")
}

// TestUnseenInValues checks that invisible characters in values are marked, and escaped in the JSON
// of an entity.
func TestUnseenInValues(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "\u202eevil", "Note": " a\tb \n"})
	b := browse(t, s, "people?pk=a&rk=1")
	b.seeText(`[role="gridcell"]`, "⟨202E⟩evil")
	b.seeText(`[role="gridcell"]`, "␣a⇥b␣↵")
	b.seeText(at("entity-json"), `"\u202eevil"`)
	b.click(at("form-list"))
	b.seeText(at("entity"), "⟨202E⟩evil")
	b.shot("unseen-values")
	b.quiet()
}

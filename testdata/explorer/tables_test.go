package explorer

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestTables finds a table among a thousand by a filter, creates a table, and deletes one after typing its
// name. The text of the filter must stay in its field.
func TestTables(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for i := range 1100 {
		s.do("POST", "/Tables", fmt.Sprintf(`{"TableName":"table%04d"}`, i), 201)
	}
	var trouble atomic.Bool
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if !trouble.Load() || r.URL.Query().Get("NextTableName") == "" {
			return false
		}
		refuse(w, 503, "ServerBusy", "The server is busy.")
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "")
	b.seeText(at("tables"), "1,100 tables")
	if n := js[int](b, `document.querySelectorAll(%s).length`, at("table")); n > 100 {
		t.Errorf("%d of the tables are in the document", n)
	}
	b.fill(at("table-filter"), "099")
	b.seeText(at("tables"), "12 of 1,100 tables")
	b.wait(`document.querySelectorAll(%s).length == 12`, at("table"))
	b.click(at("table"))
	b.seeText(at("blank"), "The table is empty.")
	b.seeText(at("status"), "0 rows")
	b.has(at("table-filter"), "099")
	b.shot("empty")
	// The keys End and Home open the last and the first table.
	js[bool](b, `(document.querySelector('nav [role="listbox"]').focus(), true)`)
	b.keys(kb.End)
	b.seeText(at("title"), "table1099")
	b.keys(kb.Home)
	b.seeText(at("title"), "table0099")
	b.seeText(at("blank"), "The table is empty.")
	// The server fails in the middle of the list of tables: the page shows the first half, and loads the rest
	// later.
	trouble.Store(true)
	b.click(at("reload-tables"))
	b.seeText(at("error"), "The server is busy.")
	trouble.Store(false)
	b.click(at("retry"))
	b.gone(at("error"))
	b.seeText(at("tables"), "12 of 1,100 tables")

	b.click(at("create-table"))
	b.fill(at("table-name"), "1a")
	b.seeText("dialog", "3 to 63 letters and digits; the first is a letter.")
	b.wait(`document.querySelector("dialog [type=submit]").disabled`)
	b.fill(at("table-name"), "table0001")
	b.keys("\r")
	b.seeText(at("error"), "TableAlreadyExists")
	b.has(at("table-name"), "table0001")
	b.shot("create-table")
	b.fill(at("table-name"), "people099")
	b.keys("\r")
	b.seeText(at("title"), "people099")
	b.seeText(at("tables"), "13 of 1,101 tables")
	b.click(at("table-menu"))
	b.click(at("delete-table"))
	b.fill(at("confirm-table"), "people")
	b.wait(`document.querySelector(%s).disabled`, at("delete-table-now"))
	b.shot("delete-table")
	b.fill(at("confirm-table"), "people099")
	b.click(at("delete-table-now"))
	b.see(at("home-page"))
	b.seeText(at("tables"), "12 of 1,100 tables")
	b.has(at("table-filter"), "099")
	s.do("GET", "/Tables('people099')", "", 404)
}

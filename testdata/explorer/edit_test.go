package explorer

import (
	"fmt"
	"strings"
	"testing"
)

// An entity is changed with its ETag. If somebody else was faster, both versions are
// shown, and what the user takes of them is saved. A deletion can be undone.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada", "Born": 1815})
	b := newTab(t)
	b.enter("gateway", s, "people?pk=a&rk=1")
	b.click(at("edit"))
	b.fill(`[data-name="Name"] input:not([data-test]), [data-name="Name"] textarea`, "Ada Lovelace")
	s.fillMerge("people", entity{"PartitionKey": "a", "RowKey": "1", "Born": 1816})
	b.click(at("save-entity"))
	b.see(at("merge"))
	b.shot("merge")
	b.click(at("save-merged"))
	b.wait(`!document.querySelector(%s)`, at("merge"))
	b.seeText(`[role="gridcell"]`, "Ada Lovelace")
	if text := s.do("GET", "/people(PartitionKey='a',RowKey='1')", "", 200); !strings.Contains(text, "Ada Lovelace") || !strings.Contains(text, "1816") {
		t.Errorf("merged: %s", text)
	}
	b.click(at("delete"))
	b.see(at("undo"))
	s.do("GET", "/people(PartitionKey='a',RowKey='1')", "", 404)
	b.click(at("undo"))
	b.wait(`!document.querySelector(%s)`, at("undo"))
	s.do("GET", "/people(PartitionKey='a',RowKey='1')", "", 200)
	b.quiet("412 (Precondition Failed)")
}

// fillMerge merges entities into a table.
func (s *server) fillMerge(table string, e entity) {
	s.t.Helper()
	s.run(fmt.Sprintf(`{"PartitionKey":%q,"RowKey":%q,"Born":%d}`, e["PartitionKey"], e["RowKey"], e["Born"]), "put", table, "-", "--mode", "merge", "--to", s.connection)
}

// A query is typed, its error is shown, and all its results are deleted, also those
// that are not loaded, and no others.
func TestQueryAndBulk(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var list []entity
	for row := range 1500 {
		list = append(list, entity{"PartitionKey": fmt.Sprintf("p%d", row%3), "RowKey": fmt.Sprintf("%04d", row), "N": row})
	}
	s.fill("numbers", list...)
	b := newTab(t)
	b.enter("gateway", s, "numbers")
	b.see(`[role="gridcell"]`)
	b.fill(at("filter"), "N ge ")
	b.see(at("problem"))
	b.fill(at("filter"), "N ge 100")
	b.keys("\x1b")
	b.click(at("run"))
	b.wait(`decodeURIComponent(location.hash.replaceAll("+", " ")).includes("N ge 100")`)
	b.wait(`(cells => cells.includes("0102") && !cells.includes("0000"))([...document.querySelectorAll('[role="gridcell"]')].map(e => e.innerText))`)
	b.click(at("count"))
	b.seeText(at("count"), "1,400")
	b.click(at("bulk"))
	b.click(at("bulk-delete"))
	b.fill(at("confirm"), "numbers")
	b.click(at("bulk-begin"))
	b.seeText(at("bulk-progress"), "1,400 entities deleted. Finished.")
	b.shot("bulk")
	b.click(at("bulk-close"))
	if left := strings.Count(s.do("GET", "/numbers()", "", 200), "RowKey"); left != 100 {
		t.Errorf("%d entities are left", left)
	}
	b.quiet()
}

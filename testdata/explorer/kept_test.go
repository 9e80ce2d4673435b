package explorer

import (
	"strings"
	"testing"

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
	b.quiet()
}

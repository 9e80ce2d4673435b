package explorer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMerge checks that edited values of an entity are stored exactly. If another client has changed the
// entity meanwhile, the page must show both versions and merge them.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people?pk=Bergen&rk=001")
	b.seeText(at("entity-json"), `"Id": "9007199254740993"`)
	b.click(at("edit"))
	b.set(field("Id", "field-value"), "9223372036854775807")
	b.set(field("Born", "field-value"), "1")
	b.click(field("Note", "field-remove"))
	s.do("PUT", "/people(PartitionKey='Bergen',RowKey='001')", `{"Name":"Ada","Born":2,"City":"London","Note":""}`, 204)
	b.click(at("save-entity"))
	b.see(at("merge"))
	b.shot("merge")
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), "London")
	if got := b.text(at("entity-json")); !strings.Contains(got, `"Id": "9223372036854775807"`) || !strings.Contains(got, `"Born": 1,`) || strings.Contains(got, "Note") {
		t.Errorf("merged to\n%s", got)
	}
	b.wait(`document.querySelector(%s).getAttribute("aria-colcount") == 10`, at("grid")) // the grid has a new column, City
	// The user takes the other client's value of a property.
	b.click(at("edit"))
	b.set(field("Born", "field-value"), "3")
	s.do("PUT", "/people(PartitionKey='Bergen',RowKey='001')", `{"Name":"Ada","Born":4}`, 204)
	b.click(at("save-entity"))
	b.click(`[name="take-Born"]` + at("take-theirs"))
	b.click(at("save-merged"))
	b.seeText(at("entity-json"), `"Born": 4`)
	// The page does not send a value that is invalid for its type, and the typed text stays in the field.
	b.click(at("edit"))
	b.set(field("Born", "field-value"), "2147483648")
	b.click(at("save-entity"))
	b.seeText(at("error"), "an Int32 is from -2147483648 to 2147483647")
	b.has(field("Born", "field-value"), "2147483648")
	b.click(at("discard"))
	// A deletion can be undone, which restores all properties.
	before := stamped(s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 200))
	b.click(at("delete"))
	b.seeText(at("deleted"), "1 entity of people deleted.")
	s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 404)
	b.shot("deleted")
	b.click(at("undo"))
	b.gone(at("deleted"))
	if after := stamped(s.do("GET", "/people(PartitionKey='Bergen',RowKey='001')", "", 200)); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	// The page does not delete an entity that another client has changed.
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='001')", `{"Name":"changed"}`, 204)
	b.visit("#/dev/people?pk=Oslo&rk=001")
	b.seeText(at("entity-json"), "changed")
	s.do("PUT", "/people(PartitionKey='Oslo',RowKey='001')", `{"Name":"changed again"}`, 204)
	b.click(at("delete"))
	b.seeText(at("error"), "Oslo / 001 was changed since it was loaded, and is left as it is.")
	s.do("GET", "/people(PartitionKey='Oslo',RowKey='001')", "", 200)
	// If another client has deleted the entity, a save inserts it again.
	b.click(at("refresh"))
	b.seeText(at("entity-json"), "changed again")
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "back")
	s.do("DELETE", "/people(PartitionKey='Oslo',RowKey='001')", "", 204)
	b.click(at("save-entity"))
	b.seeText(at("error"), "Somebody deleted this entity meanwhile. Save inserts it again with your values.")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), "back")
	b.quiet("412 (Precondition Failed)")
}

// TestEditors adds an entity with all eight types, clones one, and edits one as JSON. Typed text is
// kept while the panel is closed.
func TestEditors(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.click(at("add"))
	b.set(field("PartitionKey", "field-value"), "a/b")
	b.seeText(at("edit-panel"), `a key has none of / \ # ? and no control characters`)
	b.set(field("PartitionKey", "field-value"), "all")
	b.set(field("RowKey", "field-value"), "types")
	add := func(name, kind, value string) {
		t.Helper()
		b.click(at("add-property"))
		b.set(field("", "field-name"), name)
		b.choose(field(name, "field-type"), kind)
		if kind == "Boolean" {
			b.choose(field(name, "field-value"), value)
		} else if value != "" {
			b.set(field(name, "field-value"), value)
		}
	}
	add("S", "String", "line 1\nline 2")
	add("Empty", "String", "")
	add("B", "Boolean", "false")
	add("I", "Int32", "-2147483648")
	add("L", "Int64", "9223372036854775807")
	add("D", "Double", "1e-7")
	add("T", "DateTime", "2026-03-04 05:06:07.1234567")
	add("G", "Guid", "")
	b.click(field("G", "field-value") + " + button") // this button makes a new Guid
	b.wait(`/^[0-9a-f-]{36}$/.test(document.querySelector(%s).value)`, field("G", "field-value"))
	add("X", "Binary", "")
	file := filepath.Join(t.TempDir(), "bytes")
	if err := os.WriteFile(file, []byte{0, 1, 255}, 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles(chromedp.CSS(`[data-name="X"] input[type="file"]`), []string{file}))
	b.has(field("X", "field-value"), "AAH/")
	b.shot("editors")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), "types")
	got := s.do("GET", "/people(PartitionKey='all',RowKey='types')", "", 200)
	for _, want := range []string{`"S":"line 1\nline 2"`, `"Empty":""`, `"B":false`, `"I":-2147483648`, `"L":"9223372036854775807"`, `"D":1E-07`, `"T":"2026-03-04T05:06:07.1234567Z"`, `"X":"AAH/"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	// A clone needs a new key. Until the user has typed one, the clone cannot be saved, and typed text must
	// not be lost.
	b.click(at("clone"))
	b.set(field("S", "field-value"), "cloned")
	b.click(at("save-entity"))
	b.seeText(at("error"), "EntityAlreadyExists")
	b.has(field("S", "field-value"), "cloned")
	b.set(field("RowKey", "field-value"), "clone")
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), "cloned")
	s.do("GET", "/people(PartitionKey='all',RowKey='clone')", "", 200)
	// JSON: errors are shown with their position, and unfinished text is kept.
	b.visit("#/dev/people?pk=Oslo&rk=013")
	b.seeText(at("entity-json"), "Edsger")
	b.click(at("edit"))
	b.click(at("edit-json"))
	broken := "{\n  \"PartitionKey\": \"Oslo\",\n  \"RowKey\": \"013\",\n  \"Born@odata.type\": \"Edm.Int64\", \"Born\": \"1930\"\n  \"Name\": \"E\"\n}"
	b.set(at("json-text"), broken)
	b.click(at("save-entity"))
	b.seeText(at("error"), "Line 5, character 3: expected , or }")
	b.keys("\x1b")
	b.gone(at("edit-panel"))
	b.click(at("edit"))
	b.has(at("json-text"), broken)
	b.shot("edit-json")
	b.set(at("json-text"), strings.Replace(broken, "\"1930\"\n", "\"1930\",\n", 1))
	b.click(at("save-entity"))
	b.seeText(at("entity-json"), `"Born@odata.type": "Edm.Int64"`)
	if got := s.do("GET", "/people(PartitionKey='Oslo',RowKey='013')", "", 200); !strings.Contains(got, `"Born":"1930"`) || !strings.Contains(got, `"Name":"E"`) {
		t.Errorf("saved: %s", got)
	}
	// Keys cannot be changed. A user who leaves the page with unsaved text is asked first.
	b.click(at("edit"))
	b.click(at("edit-json"))
	b.set(at("json-text"), `{"PartitionKey":"Oslo","RowKey":"014"}`)
	b.click(at("save-entity"))
	b.seeText(at("error"), "The keys of an entity cannot change")
	leaving := `dispatchEvent(new Event("beforeunload", {cancelable: true}))`
	b.keys("\x1b")
	b.gone(at("edit-panel"))
	if js[bool](b, leaving) {
		t.Error("the page can be left with a text that is not saved")
	}
	b.click(at("edit"))
	b.click(at("discard"))
	if !js[bool](b, leaving) {
		t.Error("the page cannot be left, and nothing is unsaved")
	}
	b.quiet("409 (Conflict)")
}

package explorer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	download "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// downloads makes the browser save downloaded files in a new folder, and returns its path.
func (b *tab) downloads() (dir string) {
	b.Helper()
	dir = b.TempDir()
	b.ends = make(chan struct{}, 100)
	progress := chromedp.BrowserEvents(b.ctx, download.DownloadProgress)
	go func() {
		for e, err := range progress {
			if err != nil {
				return
			}
			if e.State == download.DownloadProgressStateCompleted {
				b.ends <- struct{}{}
			}
		}
	}()
	enabled := true
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		c := chromedp.FromContext(b.ctx)
		_, err := cdp.Call(ctx, c.Browser, download.SetDownloadBehavior, download.SetDownloadBehaviorParams{
			Behavior: "allow", DownloadPath: dir, EventsEnabled: &enabled, BrowserContextID: c.BrowserContextID,
		})
		return chromedp.Void{}, err
	})
	return dir
}

// saved waits for a file that the page saves, and returns the content of the file.
func (b *tab) saved(dir, name string) string {
	b.Helper()
	ctx, cancel := b.patience()
	defer cancel()
	for {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && len(text) > 0 {
			return string(text)
		}
		select {
		case <-b.ends:
		case <-ctx.Done():
			b.Fatalf("%s was not saved: %v", name, err)
		}
	}
}

// file sets the file of the input field that the selector selects.
func (b *tab) file(selector, name, text string) {
	b.Helper()
	b.see(selector)
	path := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles(chromedp.CSS(selector), []string{path}))
}

// TestExportImport checks that an export contains exactly the results of the query, with every
// type, and that it can be imported again.
func TestExportImport(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := entity{"PartitionKey": "a", "RowKey": "1", "S": "x,\"y\"\nz", "Empty": "", "B": true, "I": 5, "D": 1.0,
		"L@odata.type": "Edm.Int64", "L": "9007199254740993", "T@odata.type": "Edm.DateTime", "T": "2020-01-02T03:04:05.1234567Z",
		"G@odata.type": "Edm.Guid", "G": "c9da6455-213d-42c9-9a79-3e9149a57833", "X@odata.type": "Edm.Binary", "X": "AQID"}
	s.fill("types", all, entity{"PartitionKey": "b", "RowKey": "1", "S": "not asked for"})
	before := s.do("GET", "/types(PartitionKey='a',RowKey='1')", "", 200)
	for _, format := range []string{"jsonl", "csv"} {
		b := newTab(t)
		dir := b.downloads()
		b.enter("endpoint", s, "types?filter=PartitionKey%20eq%20'a'")
		b.seeText(`[role="gridcell"]`, "9007199254740993")
		b.click(at("files"))
		b.click(at("export-open"))
		b.choose(at("export-format"), format)
		b.click(at("export-begin"))
		b.seeText(at("export-progress"), "1 entity")
		b.shot("export-" + format)
		b.click(at("export-save"))
		text := b.saved(dir, "types."+format)
		if strings.Contains(text, "not asked for") || !strings.Contains(text, "9007199254740993") {
			t.Errorf("the export is\n%s", text)
		}
		s.do("DELETE", "/types(PartitionKey='a',RowKey='1')", "", 204)
		b.open("about:blank")
		b.open(s.page) // the account is still open in this window
		b.see(at("tables"))
		b.wait(`/^#[/][^/]+/.test(location.hash)`) // wait until the URL contains the account
		js[bool](b, `(location.hash = location.hash.replace(/\?.*/, "") + "/types", true)`)
		b.seeText(`[role="gridcell"]`, "not asked for") // wait until the rows of the table are shown
		b.click(at("files"))
		b.click(at("import-open"))
		b.file(at("import-file"), "types."+format, text)
		b.seeText(at("import-preview"), "Int64 9007199254740993")
		b.shot("import-" + format)
		b.click(at("import-begin"))
		b.seeText(at("import-progress"), "1 entity written. Finished.")
		b.click(at("import-close"))
		b.seeText(`[role="gridcell"]`, "9007199254740993")
		after := s.do("GET", "/types(PartitionKey='a',RowKey='1')", "", 200)
		if stamped(before) != stamped(after) {
			t.Errorf("%s: it was\n%s\nit is\n%s", format, before, after)
		}
		b.quiet()
	}
}

// stamped returns the JSON of an entity without its Timestamp and ETag, and with its properties sorted by
// name.
func stamped(entity string) string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(entity), "{}"), `,"`)
	var kept []string
	for _, part := range parts {
		if !strings.Contains(part, "Timestamp") && !strings.Contains(part, "odata.etag") && !strings.Contains(part, "odata.metadata") {
			kept = append(kept, part)
		}
	}
	for i := range kept {
		for j := i + 1; j < len(kept); j++ {
			if kept[j] < kept[i] {
				kept[i], kept[j] = kept[j], kept[i]
			}
		}
	}
	return strings.Join(kept, "\n")
}

// TestImportCSV imports plain CSV: columns become keys and properties with types, some columns are
// skipped, and invalid rows are refused with a reason.
func TestImportCSV(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "team", "RowKey": "1", "Name": "old"})
	b := newTab(t)
	dir := b.downloads()
	b.enter("gateway", s, "people")
	b.seeText(`[role="gridcell"]`, "old")
	b.click(at("files"))
	b.click(at("import-open"))
	b.file(at("import-file"), "people.csv", "\ufeffid;name;born;zip\r\n1;Ada;1815;01234\r\n2;\"Grace; H\";x;\"\"\r\n3;Edsger;1930;\r\na/b;bad key;1;\r\n")
	b.choose(at("import-pk"), "")
	b.fill(at("import-pk-text"), "team")
	b.choose(at("import-rk"), "id")
	b.choose(at("import-type-born"), "Int32")
	b.seeText(at("import-preview"), "Int32 1815")
	b.seeText(at("import-preview"), "Line 3: born")
	b.shot("import-plan")
	b.click(at("import-begin"))
	b.seeText(at("import-progress"), "1 entity written, 1 there already, 2 refused. Finished.")
	b.shot("import-refused")
	b.click(at("import-rejects"))
	if text := b.saved(dir, "refused.jsonl"); !strings.Contains(text, "Grace") || !strings.Contains(text, `"line":5`) {
		t.Errorf("refused:\n%s", text)
	}
	b.click(at("import-close"))
	b.seeText(`[role="gridcell"]`, "Edsger")
	if text := s.do("GET", "/people(PartitionKey='team',RowKey='3')", "", 200); !strings.Contains(text, `"born":1930`) || strings.Contains(text, "zip") {
		t.Errorf("the entity is %s", text)
	}
	if text := s.do("GET", "/people(PartitionKey='team',RowKey='1')", "", 200); !strings.Contains(text, "old") {
		t.Errorf("what was there is %s", text)
	}
	b.quiet()
}

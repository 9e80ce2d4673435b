package explorer

import (
	"context"
	"strings"
	"testing"

	permissions "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// clipboard replaces the page's function that copies text, because all tabs would share the clipboard of the
// machine.
func (b *tab) clipboard() {
	b.Helper()
	js[bool](b, `(navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, true)`)
}

// mayCopy permits the page to write to the clipboard of the machine when the user clicks or presses a key. Chromium always
// permits that, but its headless shell does not.
func (b *tab) mayCopy() {
	b.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		c := chromedp.FromContext(b.ctx)
		_, err := cdp.Call(ctx, c.Browser, permissions.SetPermission, permissions.SetPermissionParams{
			Permission: &permissions.PermissionDescriptor{Name: "clipboard-write"}, Setting: permissions.PermissionSettingGranted, BrowserContextID: c.BrowserContextID,
		})
		return chromedp.Void{}, err
	})
}

// copied waits until the page has copied a text that contains part, and returns the text.
func (b *tab) copied(part string) string {
	b.Helper()
	b.wait(`window.copied?.includes(%s)`, part)
	return js[string](b, `window.copied`)
}

// TestClipboard checks that a cell, a rectangle of cells, rows and an entity can be copied. The copied values
// must be exact, in the formats that spreadsheets and programs read.
func TestClipboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	list := people()
	list[3]["Name"] = "Eds\t\"ger\""
	s.fill("people", list...)
	b := browse(t, s, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.clipboard()
	copied := func(want string) {
		t.Helper()
		b.wait(`window.copied == %s`, want)
	}
	b.click(row("2") + ` [data-col="1"]`)
	b.focus(at("grid"))
	b.chord("c", chromedp.ModifierCtrl)
	copied("012")
	b.seeText(at("status"), "Copied 1 cell.")
	b.chord(kb.ArrowLeft, chromedp.ModifierShift)
	b.chord(kb.ArrowDown, chromedp.ModifierShift)
	b.chord("c", chromedp.ModifierCtrl)
	copied("Oslo\t012\nOslo\t013")
	b.seeText(at("status"), "Copied 4 cells.")
	b.click(at("copy"))
	b.shot("copy")
	b.click(at("copy-rows"))
	b.wait(`window.copied.startsWith("PartitionKey\tRowKey\tBorn\tId\tName")`)
	lines := strings.Split(b.copied("Barbara"), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], "\t1939\t\tBarbara\t") || !strings.Contains(lines[1], "2026-03-04T05:06:07.1234567Z") || !strings.Contains(lines[2], "\t1930\t\t\"Eds\t\"\"ger\"\"\"") {
		t.Errorf("the rows are %q", lines)
	}
	b.click(at("copy"))
	b.click(at("copy-json"))
	if text := b.copied(`"Born": 1930`); !strings.HasPrefix(text, "[\n{\n") || !strings.Contains(text, `"At@odata.type": "Edm.DateTime",`) {
		t.Errorf("JSON:\n%s", text)
	}
	// A click on the number of a row selects the row, and Shift extends the selection.
	b.click(row("0") + ` [data-col="-1"]`)
	b.chord("c", chromedp.ModifierCtrl)
	if text := b.copied("\t9007199254740993\t"); strings.Count(text, "\n") != 1 {
		t.Errorf("the row is %q", text)
	}
	b.seeText(at("status"), "Copied 1 row.")
	b.chord("a", chromedp.ModifierCtrl)
	b.click(at("copy"))
	b.click(at("copy-json"))
	b.copied(`"Id@odata.type": "Edm.Int64",` + "\n  " + `"Id": "9007199254740993"`)
	b.seeText(at("status"), "Copied 4 rows as JSON.")
	b.visit("#/dev/people?pk=Bergen&rk=001")
	b.click(at("copy-entity"))
	b.seeText(at("copy-entity"), "Copied")
	b.copied("{\n  \"PartitionKey\": \"Bergen\",")
	// The browser may refuse access to the clipboard.
	js[bool](b, `(navigator.clipboard.writeText = () => Promise.reject(new Error("no")), true)`)
	b.focus(at("grid"))
	b.chord("c", chromedp.ModifierCtrl)
	b.seeText(at("status"), "The browser did not permit to copy.")
	b.quiet()
}

// TestPlainHTTP opens the page over plain HTTP from an address that is not loopback. There, browsers offer
// neither WebCrypto nor a clipboard. The page must warn before it accepts a key. It must sign with its own
// code, and must be able to copy.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.open(strings.Replace(s.page, "127.0.0.1", "0.0.0.0", 1)) // an address of this machine that the browser does not treat as secure
	b.seeText(at("insecure"), "This page came over plain http.")
	if js[bool](b, `isSecureContext`) {
		t.Fatal("the browser takes 0.0.0.0 for secure")
	}
	b.shot("insecure")
	b.click(at("way-string"))
	b.fill(at("secret"), strings.ReplaceAll(s.connection, "127.0.0.1", "0.0.0.0"))
	b.wait(`document.querySelector(%s).disabled`, at("open"))
	b.click(at("insecure") + " input")
	b.click(at("open"))
	b.seeText(at("table"), "people")
	b.click(at("table"))
	b.seeText(`[role="gridcell"]`, "Barbara")
	js[bool](b, `(document.addEventListener("copy", () => { window.copied = document.activeElement.value }), true)`)
	b.click(row("2") + ` [data-col="1"]`)
	b.focus(at("grid"))
	b.chord("c", chromedp.ModifierCtrl)
	b.copied("012")
	b.wait(`document.activeElement == document.querySelector(%s)`, at("grid")) // copying must not move the focus out of the grid
	b.click(at("code"))
	b.click(`[data-test="code-dialog"] .grow + button`)
	b.copied("import os") // copying must also work while a dialog is open
}

package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// row returns a selector of the row with this index in the grid.
func row(i string) string { return `.row[data-row="` + i + `"]` }

// field returns a selector of a part of a property's editor.
func field(name, part string) string {
	return `[data-test="field"][data-name="` + name + `"] ` + at(part)
}

// browse opens a table through 'edgetable explorer'.
func browse(t *testing.T, s *server, table string) *tab {
	t.Helper()
	b := newTab(t)
	b.enter("gateway", s, table)
	b.see(at("status"))
	return b
}

// visit navigates to a hash within the page.
func (b *tab) visit(hash string) {
	b.Helper()
	js[bool](b, `(location.hash = %s, true)`, hash)
}

// reload reloads the page.
func (b *tab) reload() {
	b.Helper()
	b.do(chromedp.Reload())
}

// set sets the text of a field at once, without typing.
func (b *tab) set(selector, text string) {
	b.Helper()
	b.see(selector)
	js[bool](b, `(e => { e.value = %[2]s; e.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector(%[1]s))`, selector, text)
}

func (b *tab) gone(selector string) {
	b.Helper()
	b.wait(`!document.querySelector(%s)`, selector)
}

func (b *tab) has(selector, text string) {
	b.Helper()
	b.wait(`document.querySelector(%s)?.value == %s`, selector, text)
}

// rows waits until the document has n rows of the grid.
func (b *tab) rows(n int) {
	b.Helper()
	b.wait(`document.querySelectorAll(".row[data-row]").length == %s`, n)
}

// text returns the visible text of an element.
func (b *tab) text(selector string) string {
	b.Helper()
	b.see(selector)
	return js[string](b, `document.querySelector(%s).innerText`, selector)
}

// chord presses keys while modifiers such as Ctrl are held.
func (b *tab) chord(keys string, with ...chromedp.Modifier) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(with...)))
}

// focus moves the focus to an element, which then receives keys.
func (b *tab) focus(selector string) {
	b.Helper()
	b.see(selector)
	js[bool](b, `(document.querySelector(%s).focus(), true)`, selector)
}

// zone sets the time zone of the browser tab.
func (b *tab) zone(name string) {
	b.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return chromedp.Void{}, err
	})
}

// theme makes the browser report "light" or "dark" as the theme of the system, and waits until the
// page follows.
func (b *tab) theme(name string) {
	b.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return chromedp.Void{}, err
	})
	js[bool](b, `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
}

// axe returns the accessibility problems that the program axe finds, either by the named rules or by all
// rules.
func (b *tab) axe(rules ...string) []string {
	b.Helper()
	source, err := os.ReadFile(filepath.FromSlash("../../functions/explorer/page/node_modules/axe-core/axe.min.js"))
	if err != nil {
		b.Fatalf("functions/explorer/page/install has not run: use 'make explorer-test'; %v", err)
	}
	if !js[bool](b, "!!window.axe") {
		js[bool](b, string(source)+"; true")
	}
	return js[[]string](b, `axe.run(document, {resultTypes: ["violations"], runOnly: %s ?? undefined}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120)).join(" | ")))`, rules)
}

// through starts a proxy in front of the server, and returns a connection string for the proxy. The function
// answers may respond to a request and return true. Otherwise the server responds.
func (s *server) through(answers func(w http.ResponseWriter, r *http.Request) bool) (connection string, stop func()) {
	s.t.Helper()
	home, err := url.Parse(s.endpoint)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // if the body were not read completely, the proxy could cut off the response
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	s.t.Cleanup(between.Close)
	return strings.ReplaceAll(s.connection, home.Host, strings.TrimPrefix(between.URL, "http://")), between.Close
}

// refuse responds with an error of the protocol.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(entity{"odata.error": entity{"code": code, "message": entity{"lang": "en-US", "value": message}}})
}

func people() []entity {
	return []entity{
		{"PartitionKey": "Bergen", "RowKey": "001", "Name": "Ada", "Born": 1815, "Id@odata.type": "Edm.Int64", "Id": "9007199254740993", "Note": ""},
		{"PartitionKey": "Oslo", "RowKey": "001", "Name": "Grace", "Born": 1906},
		{"PartitionKey": "Oslo", "RowKey": "012", "Name": "Barbara", "Born": 1939, "At@odata.type": "Edm.DateTime", "At": "2026-03-04T05:06:07.1234567Z"},
		{"PartitionKey": "Oslo", "RowKey": "013", "Name": "Edsger", "Born": 1930},
	}
}

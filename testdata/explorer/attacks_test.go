package explorer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestPolicy checks that the Content-Security-Policy of the page works: injected HTML and scripts
// have no effect.
func TestPolicy(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		b.enter(w, serve(b.T), "")
		b.quiet()
		for what, code := range map[string]string{
			"an inline script": `const s = document.createElement("script"); s.append("window.ran = 1"); document.body.append(s)`,
			"HTML":             `document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.ran = 1'>")`,
			"a handler":        `const a = document.createElement("a"); a.setAttribute("onclick", "window.ran = 1"); document.body.append(a); a.click()`,
			"a link":           `const a = document.createElement("a"); a.href = "javascript:void(window.ran = 1)"; document.body.append(a); a.click()`,
			"a foreign script": `const s = document.createElement("script"); s.src = "http://127.0.0.1:1/x.js"; document.body.append(s)`,
		} {
			if js[bool](b, `(async () => { try { `+code+` } catch {} await new Promise(r => setTimeout(r)); return !!window.ran })()`) {
				b.Errorf("%s ran", what)
			}
		}
		if js[bool](b, `(async () => { const i = new Image(); i.src = "http://127.0.0.1:1/leak"; try { await i.decode(); return true } catch { return false } })()`) {
			b.Error("an image of another place was loaded")
		}
	})
}

// TestOtherOrigins checks that pages of other origins cannot use the explorer: neither by requests,
// nor in a frame, nor through a host name that resolves to this machine.
func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
	link := s.explore()
	home, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>a page of somebody else</h1>")
	}))
	t.Cleanup(evil.Close)
	b := newTab(t)
	for _, from := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} { // a page of the same site, and of another one
		b.open(from)
		for _, request := range []string{
			`fetch(%[1]s + "session")`,
			`fetch(%[1]s + "p/dev/Tables", {mode: "no-cors"}).then(r => { if (r.type == "opaque") throw 0 })`,
			`fetch(%[1]s + "p/dev/Tables", {headers: {"x-edgetable-explorer": %[2]s}})`,
			`fetch(%[1]s + "p/dev/Tables('people')", {method: "DELETE", headers: {"x-edgetable-explorer": %[2]s}})`,
			`fetch(%[1]s + "p/dev/Tables", {method: "POST", mode: "no-cors", body: "{}"}).then(r => { if (r.type == "opaque") throw 0 })`,
			`new Promise((yes, no) => { const s = document.createElement("script"); s.src = %[1]s + "app.js"; s.onload = yes; s.onerror = no; document.body.append(s) })`,
		} {
			if js[bool](b, request+`.then(() => true, () => false)`, "http://"+home.Host+home.Path, "guess") {
				t.Errorf("%s: %s reached the explorer", from, request)
			}
		}
		if js[bool](b, `new Promise(done => { const f = document.createElement("iframe"); f.src = %s; document.body.append(f);
			f.onload = () => { try { done(f.contentDocument !== null) } catch { done(false) } } })`, "http://"+home.Host+home.Path) {
			t.Errorf("%s: the explorer is in a frame", from)
		}
	}
	s.do("GET", "/Tables('people')", "", 200)
	for _, page := range []string{link, s.page} {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = "evil.example:" + u.Port() // the browser resolves this name to this machine
		b.open(u.String())
		b.seeText("body", "the explorer is not served")
		b.wait(`!document.querySelector("script")`)
	}
}

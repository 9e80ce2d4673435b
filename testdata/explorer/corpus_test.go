package explorer

import (
	_ "embed"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// attackLines has one attack per line. An attack is a text that does harm if a page does not treat the text
// as plain text.
//
//go:embed testdata/attacks.txt
var attackLines string

func attacks() []string { return strings.Split(strings.TrimSpace(attackLines), "\n") }

// hostile starts a service whose names, values and error messages are attacks, even where the protocol does
// not allow such names.
func hostile(t *testing.T) (connection string) {
	t.Helper()
	list := attacks()
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, value any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		_ = e.Encode(value)
	}
	mux.HandleFunc("/acme/Tables", func(w http.ResponseWriter, r *http.Request) {
		var tables []entity
		for _, attack := range list {
			tables = append(tables, entity{"TableName": attack})
		}
		answer(w, 200, entity{"value": append(tables, entity{"TableName": "rows"})})
	})
	mux.HandleFunc("/acme/rows()", func(w http.ResponseWriter, r *http.Request) {
		var rows []entity
		for _, attack := range list {
			rows = append(rows, entity{"PartitionKey": attack, "RowKey": attack, "odata.etag": attack, "Timestamp": "2026-01-01T00:00:00Z", attack: attack, "Value": attack})
		}
		w.Header().Set("X-Ms-Request-Id", "x")
		answer(w, 200, entity{"value": rows})
	})
	mux.HandleFunc("/acme/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("comp") != "" || r.URL.Query().Get("restype") != "" {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(400)
			_, _ = w.Write([]byte("<error><code>Wrong</code><message>" + html.EscapeString(strings.Join(list, " ")) + "</message></error>"))
			return
		}
		answer(w, 400, entity{"odata.error": entity{"code": list[0], "message": entity{"value": strings.Join(list, " ")}}})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return "AccountName=acme;AccountKey=c2VjcmV0;TableEndpoint=" + s.URL + "/acme"
}

// harmless checks that no script of an attack has run, that the page has sent requests only to its own
// server, and that no attack has become an HTML element.
func (b *tab) harmless(page string) {
	b.Helper()
	if js[bool](b, `"ran" in window || "polluted" in {}`) {
		b.Error("a script ran")
	}
	home, err := url.Parse(page)
	if err != nil {
		b.Fatal(err)
	}
	for _, asked := range b.asked() {
		if u, err := url.Parse(asked); err != nil || u.Host != home.Host && u.Scheme != "about" && asked != "data:," {
			b.Errorf("the page asked %s", asked)
		}
	}
	if found := js[[]string](b, `[...document.querySelectorAll("img, iframe, object, embed, svg:not(.icon, .sparkline), math, base, meta[http-equiv], style, script:not([src='app.js']), form[action], a[href^='javascript:'], [onerror], [onload], [onfocus], [onmouseover]")].map(e => e.outerHTML.slice(0, 100))`); len(found) > 0 {
		b.Errorf("text became elements: %q", found)
	}
}

// TestStoredAttacks checks that stored attacks remain plain text wherever the page shows them.
func TestStoredAttacks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "profiles.json")
	s := &server{t: t}
	s.run(hostile(t), "profile", "add", "dev", "-", "--profiles", file)
	_, lines, _ := start(t, "#token=", "explorer", "--profiles", file)
	link := strings.TrimPrefix(lines[len(lines)-1], "explorer at ")
	b := newTab(t)
	b.open(link)
	b.seeText(at("table"), "<script>window.ran=1</script>")
	b.harmless(link)
	b.shot("attacks-tables")

	js[bool](b, `(location.hash = "#/dev/rows", true)`)
	b.seeText(`[role="gridcell"]`, "<script>window.ran=1</script>")
	for _, attack := range attacks()[:10] { // rows that are visible without scrolling
		b.seeText(`[role="gridcell"]`, attack)
	}
	b.harmless(link)
	b.shot("attacks-rows")
	for i, attack := range attacks() {
		js[bool](b, `(location.hash = "#/dev/rows?pk=" + encodeURIComponent(%[1]s) + "&rk=" + encodeURIComponent(%[1]s) + "&filter=" + encodeURIComponent(%[1]s), true)`, attack)
		b.wait(`decodeURIComponent(location.hash).length > 20 && document.querySelector(%s)`, at("title"))
		if i < 3 {
			b.seeText("body", attack)
		}
	}
	b.harmless(link)
	b.shot("attacks-query")

	// The name of this table is a text with a script that must not run (an attack). The service's error
	// message contains all such texts.
	for _, attack := range attacks()[:3] {
		js[bool](b, `(location.hash = "#/dev/" + encodeURIComponent(%s), true)`, attack)
		b.seeText(at("title"), attack)
		b.seeText(at("error"), "<img src=x onerror=window.ran=1>")
	}
	b.harmless(link)
	b.click(at("access-open"))
	b.click(at("access-policies"))
	b.seeText(`[data-test="access"]`, "script")
	b.harmless(link)
	b.shot("attacks-errors")
}

// TestStoredTexts checks that a real server returns the same texts unchanged, as keys and as
// values.
func TestStoredTexts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var list []entity
	for _, attack := range attacks() {
		if strings.ContainsAny(attack, `/\#?%`) { // keys cannot contain these characters
			list = append(list, entity{"PartitionKey": "value", "RowKey": strings.NewReplacer("/", "", `\`, "", "#", "", "?", "", "%", "").Replace(attack), "Value": attack})
			continue
		}
		list = append(list, entity{"PartitionKey": attack, "RowKey": attack, "Value": attack})
	}
	s.fill("texts", list...)
	b := newTab(t)
	b.enter("endpoint", s, "texts")
	b.see(`[role="gridcell"]`)
	for _, e := range list {
		pk, rk, value := e["PartitionKey"].(string), e["RowKey"].(string), e["Value"].(string)
		js[bool](b, `(location.hash = location.hash.split("?")[0] + "?pk=" + encodeURIComponent(%s) + "&rk=" + encodeURIComponent(%s), true)`, pk, rk)
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		// The page escapes invisible characters in the JSON, so compare the parsed value.
		b.wait(`JSON.parse(document.querySelector(%[1]s)?.textContent ?? "{}").Value === JSON.parse(%[2]s)`, at("entity-json"), string(text))
	}
	b.harmless(s.page)
	b.quiet()
}

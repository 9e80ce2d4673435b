package explorer

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A server that ends while its tables are shown, and comes back: an error with a
// way to try again, and nothing that was typed is lost.
func TestTrouble(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
	var mode atomic.Value
	mode.Store("")
	u, err := url.Parse(s.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = ""
	through := httputil.NewSingleHostReverseProxy(u)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/people()") {
			switch mode.Load() {
			case "dead":
				panic(http.ErrAbortHandler)
			case "cut":
				w.Header().Set("Content-Type", "application/json;odata=minimalmetadata")
				w.Header().Set("Content-Length", "100000")
				_, _ = w.Write([]byte(`{"value":[{"PartitionKey":"a","RowKey":"1","Na`))
				return
			case "short":
				w.Header().Set("Content-Type", "application/json;odata=minimalmetadata")
				_, _ = w.Write([]byte(`{"value":[{"PartitionKey":"a","RowKey":"1","Na`))
				return
			case "busy":
				w.Header().Set("Retry-After", "2")
				w.Header().Set("X-Ms-Error-Code", "ServerBusy")
				w.WriteHeader(503)
				return
			}
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	s.connection = strings.Replace(s.connection, u.String(), proxy.URL, 1)
	b := newTab(t)
	b.enter("gateway", s, "people")
	b.seeText(`[role="gridcell"]`, "Ada")
	b.fill(at("filter"), "Name eq 'Ada'")
	b.keys("\x1b")
	for _, trouble := range []struct{ mode, says string }{{"dead", "answer"}, {"cut", "half-way"}, {"short", ""}, {"busy", "busy"}} {
		mode.Store(trouble.mode)
		b.click(at("refresh"))
		b.seeText(at("error"), trouble.says)
		b.shot("trouble-" + trouble.mode)
		if typed := js[string](b, `document.querySelector(%s).value`, at("filter")); typed != "Name eq 'Ada'" {
			t.Errorf("%s: the filter is %q", trouble.mode, typed)
		}
		mode.Store("")
		if trouble.mode != "busy" { // the page tries again by itself when the server said when
			b.click(at("retry"))
		}
		b.wait(`!document.querySelector(%s)`, at("error"))
		b.seeText(`[role="gridcell"]`, "Ada")
	}
	// The table goes away while it is shown.
	s.do("DELETE", "/Tables('people')", "", 204)
	b.click(at("refresh"))
	b.seeText(at("error"), "does not exist")
	b.see(at("retry"))
	b.shot("trouble-deleted")
}

// A wrong key, an expired token and a server that is not there have a clear line,
// and the form keeps what was typed.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t)
	expired := s.endpoint + "?sv=2019-02-02&ss=t&srt=sco&sp=rl&se=2020-01-01T00%3A00%3A00Z&sig=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"
	for _, wrong := range []struct{ connection, says string }{
		{strings.Replace(s.connection, "Eby8", "AAAA", 1), "the key is wrong"},
		{expired, "expired"},
		{"AccountName=acme;AccountKey=c2VjcmV0;TableEndpoint=http://127.0.0.1:1/acme", "does not answer"},
		{"AccountName=acme", "neither AccountKey nor SharedAccessSignature"},
	} {
		b := newTab(t)
		b.open(s.page)
		b.click(at("way-string"))
		b.fill(at("secret"), wrong.connection)
		b.click(at("open"))
		b.seeText(at("error"), wrong.says)
		if typed := js[string](b, `document.querySelector(%s).value`, at("secret")); typed != wrong.connection {
			t.Errorf("the field has %q", typed)
		}
	}
}

// axe finds nothing serious, in light and in dark, in the states that users see.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(filepath.FromSlash("../../functions/edgetable/explorer/page/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal("functions/edgetable/explorer/page/install has not run: use 'make explorer-test'; ", err)
	}
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
	b := newTab(t)
	check := func(state string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			js[bool](b, `(document.documentElement.dataset.theme = %s, true)`, theme)
			found := js[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120)).join(" | ")))`)
			if len(found) > 0 {
				t.Errorf("%s, %s: %q", state, theme, found)
			}
		}
	}
	b.open(s.page)
	b.see(at("connect"))
	js[bool](b, string(axe)+"; true")
	check("connect")
	b.connect(s.connection)
	js[bool](b, `(location.hash = location.hash.replace(/\?.*/, "") + "/people?pk=a&rk=1", true)`)
	b.see(at("edit"))
	check("browse")
	b.click(at("builder"))
	check("builder")
	b.click(at("edit"))
	b.see(at("edit-panel"))
	check("edit")
	b.shot("edit")
	b.click(at("access-open"))
	for _, part := range []string{"token", "policies", "cors", "service"} {
		b.click(at("access-" + part))
		check("access " + part)
	}
	b.keys("\x1b")
	b.click(at("files"))
	b.click(at("import-open"))
	b.file(at("import-file"), "a.csv", "PartitionKey,RowKey,Name\na,b,c\n")
	b.seeText(at("import-preview"), "Name")
	check("import")
}

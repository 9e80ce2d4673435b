package explorer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// What goes wrong has a clear line and a retry, and nothing that was typed is lost.
func TestBadService(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	home, err := url.Parse(s.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	// The service between the explorer and the server is as bad as it is told to be.
	var trouble atomic.Value
	trouble.Store("")
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "people") {
			proxy.ServeHTTP(w, r)
			return
		}
		switch trouble.Load() {
		case "busy":
			w.Header().Set("Retry-After", "3600")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"odata.error":{"code":"ServerBusy","message":{"lang":"en-US","value":"The server is busy."}}}`)
		case "cut":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"value":[{"PartitionKey":"a","RowKey":"1"},{"PartitionKey":"a","Row`)
		case "lost":
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusOK)
			fmt.Fprint(w, `{"value":[`)
		case "nonsense":
			fmt.Fprint(w, `<html>a proxy's own page</html>`)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(bad.Close)
	good := s.connection
	s.connection = strings.ReplaceAll(good, home.Host, strings.TrimPrefix(bad.URL, "http://"))
	b := browse(t, s, "people")
	s.connection = good
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.set(at("filter"), "Born gt 1935")
	for what, line := range map[string]string{
		"busy":     "The server is busy.",
		"cut":      "The answer ended half-way",
		"lost":     "half-way",
		"nonsense": "The answer is not a page of entities",
	} {
		trouble.Store(what)
		b.click(at("run"))
		b.seeText(at("error"), line)
		if what == "busy" {
			b.seeText(at("retry"), "Retry (in ")
		}
		b.wait(`document.querySelector(%s).value == "Born gt 1935"`, at("filter"))
		b.shot("trouble-" + what)
		trouble.Store("")
		b.click(at("retry"))
		b.seeText(`[role="gridcell"]`, "Barbara")
		b.wait(`!document.querySelector(%s)`, at("error"))
	}

	// A save that fails keeps what was typed, and its retry saves it.
	js[bool](b, `(location.hash = "#/dev/people?pk=Oslo&rk=012", true)`)
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "typed")
	trouble.Store("busy")
	b.click(at("save-entity"))
	b.seeText(at("error"), "The server is busy.")
	trouble.Store("")
	b.click(at("retry"))
	b.seeText(at("entity-json"), "typed")

	// The table is deleted while it is shown; then its server is gone.
	s.do("DELETE", "/Tables('people')", "", 204)
	b.click(at("refresh"))
	b.seeText(at("error"), "The table does not exist; it may have been deleted meanwhile.")
	bad.Close()
	b.click(at("retry"))
	b.seeText(at("error"), "NoAnswer")
}

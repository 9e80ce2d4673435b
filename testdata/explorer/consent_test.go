package explorer

import (
	"strings"
	"testing"
)

// TestConsent checks that 'edgetable explorer --link' opens the accounts of a server in one window of the
// server's own page. The accounts must stay open after this window is reloaded.
func TestConsent(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, lines, stop := start(t, "ready", "serve", "--data", data, "--listen", "127.0.0.1:0")
	s := described(t, lines)
	s.fill("people", people()...)
	link := s.run("", "explorer", "--link", "--data", data)
	link, _, _ = strings.Cut(link, "\n")
	b := newTab(t)
	b.open(link)
	b.seeText(at("tables"), "people")
	if at := js[string](b, `location.href`); strings.Contains(at, "token") {
		t.Errorf("the address has the token: %s", at)
	}
	b.visit(js[string](b, `location.hash`) + "/people")
	b.seeText(at("status"), "4 rows")
	js[bool](b, `(window.old = true, location.reload(), true)`)
	b.wait(`!window.old && document.readyState == "complete"`)
	b.seeText(at("status"), "4 rows")
	b.quiet()

	// The link does not work in a second window. There, the user can open the account with its key.
	other := newTab(t)
	other.open(link)
	other.seeText("[role=alert]", "edgetable explorer --link")
	other.shot("link-used")

	// A restart of the server ends its sessions, so the page asks for the key.
	stop()
	address := strings.TrimSuffix(strings.TrimPrefix(s.page, "http://"), "/_/")
	start(t, "ready", "serve", "--data", data, "--listen", address)
	js[bool](b, `(window.old = true, location.reload(), true)`)
	b.wait(`!window.old && document.readyState == "complete"`)
	b.see(at("consent"))
}

package explorer

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestBadService checks that each failure of the service has a clear message and a retry, and that
// no typed text is lost.
func TestBadService(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	// The variable trouble holds the name of a failure. A proxy between the explorer and the server causes
	// this failure.
	var trouble atomic.Value
	trouble.Store("")
	connection, stop := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "people") {
			return false
		}
		switch trouble.Load() {
		case "dead":
			panic(http.ErrAbortHandler)
		case "busy":
			w.Header().Set("Retry-After", "3600")
			refuse(w, http.StatusServiceUnavailable, "ServerBusy", "The server is busy.")
		case "soon":
			w.Header().Set("Retry-After", "1")
			w.Header().Set("X-Ms-Error-Code", "ServerBusy")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "cut":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"value":[{"PartitionKey":"a","RowKey":"1"},{"PartitionKey":"a","Row`)
		case "lost":
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusOK)
			fmt.Fprint(w, `{"value":[`)
		case "nonsense":
			fmt.Fprint(w, `<html>a proxy's own page</html>`)
		case "expired":
			refuse(w, http.StatusForbidden, "AuthenticationFailed", "Signature not valid in the specified time frame.")
		default:
			return false
		}
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.fill(at("filter"), "Born gt 1935")
	for what, line := range map[string]string{
		"dead":     "NoAnswer",
		"busy":     "The server is busy.",
		"soon":     "The server is busy.",
		"cut":      "The answer ended too early",
		"lost":     "too early",
		"nonsense": "The answer is not a page of entities",
		"expired":  "the token has expired",
	} {
		trouble.Store(what)
		b.click(at("run"))
		b.seeText(at("error"), line)
		if text := b.text(at("status")); strings.Contains(text, "there are more") || strings.Contains(text, "all that match") {
			t.Errorf("%s: nothing was loaded, and the page says %q", what, text)
		}
		b.has(at("filter"), "Born gt 1935")
		b.shot("trouble-" + what)
		trouble.Store("")
		switch what {
		case "busy":
			b.seeText(at("retry"), "Retry (in ")
			b.click(at("retry"))
		case "soon": // the page retries by itself after some seconds
		default:
			b.click(at("retry"))
		}
		b.seeText(`[role="gridcell"]`, "Barbara")
		b.gone(at("error"))
	}

	// If saving fails, the typed text stays, and a retry saves it.
	b.visit("#/dev/people?pk=Oslo&rk=012")
	b.click(at("edit"))
	b.set(field("Name", "field-value"), "typed")
	trouble.Store("busy")
	b.click(at("save-entity"))
	b.seeText(at("error"), "The server is busy.")
	b.has(field("Name", "field-value"), "typed")
	trouble.Store("")
	b.click(at("retry"))
	b.seeText(at("entity-json"), "typed")

	// The table is deleted while it is shown; then the server stops.
	s.do("DELETE", "/Tables('people')", "", 204)
	b.click(at("refresh"))
	b.seeText(at("error"), "The table does not exist; it may have been deleted meanwhile.")
	stop()
	b.click(at("retry"))
	b.seeText(at("error"), "nothing listens at")
	b.shot("trouble-gone")
}

// TestWrongCredentials checks that a wrong key, an expired token and an unreachable server each
// have a clear message, and that the form keeps the typed text.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t)
	expired := s.endpoint + "?sv=2019-02-02&ss=t&srt=sco&sp=rl&se=2020-01-01T00%3A00%3A00Z&sig=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"
	b := newTab(t)
	b.open(s.page)
	b.click(at("open"))
	b.seeText(at("error"), "Type the name of the account.")
	b.fill(at("account"), "nobody")
	b.click(at("open"))
	b.seeText(at("error"), "Type the key of the account.")
	b.fill(at("secret"), "c2VjcmV0")
	b.click(at("open"))
	b.seeText(at("error"), "There is no account nobody at http://")
	b.shot("no-account")
	b.click(at("way-string"))
	for _, wrong := range []struct{ connection, says string }{
		{strings.Replace(s.connection, "Eby8", "AAAA", 1), "the key is wrong"},
		{expired, "expired"},
		{"AccountName=acme;AccountKey=c2VjcmV0;TableEndpoint=http://127.0.0.1:1/acme", "does not answer"},
		{"AccountName=acme", "neither AccountKey nor SharedAccessSignature"},
	} {
		b.fill(at("secret"), wrong.connection)
		b.click(at("open"))
		b.seeText(at("error"), wrong.says)
		b.has(at("secret"), wrong.connection)
	}
	b.shot("wrong-key")
	// With a token for one table, the page opens that table.
	s.fill("people", people()...)
	token := strings.TrimSpace(s.run("", "sas", "--table", "people", "--permissions", "r", "--quiet"))
	b.fill(at("secret"), s.endpoint+"/people?"+token)
	b.click(at("open"))
	b.seeText(at("table"), "people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.gone(at("error"))
	b.click(at("access-open"))
	b.seeText(at("no-key"), "A token cannot make other tokens.")
	b.keys("\x1b")
	// The token does not permit writes, so saving fails, and the typed text stays.
	b.click(at("add"))
	b.set(field("PartitionKey", "field-value"), "mine")
	b.click(at("save-entity"))
	b.seeText(at("error"), "does not permit this")
	b.has(field("PartitionKey", "field-value"), "mine")
	b.shot("not-permitted")
}

// TestNarrowTokens checks what the page shows with tokens that do not permit to list tables: a token for one table, and one
// for the entities of all tables.
func TestNarrowTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	with := func(token string) *tab {
		t.Helper()
		b := newTab(t)
		b.open(s.page)
		b.click(at("way-string"))
		b.fill(at("secret"), s.endpoint+"?"+strings.TrimSpace(token))
		b.click(at("open"))
		return b
	}
	b := with(s.run("", "sas", "--table", "people", "--permissions", "r", "--quiet"))
	b.seeText(`[role="gridcell"]`, "Barbara")
	b.click(at("home"))
	b.seeText(at("health"), "Answers in")
	b.seeText(at("entities"), "4")
	b.seeText(at("table"), "people")
	b.gone(at("error"))

	b = with(s.run("", "sas", "--permissions", "r", "--quiet"))
	b.seeText(at("health"), "Answers in")
	b.seeText(at("entities"), "–")
	b.seeText(at("tables"), "The list of tables is not permitted.")
	b.seeText(`nav [role="alert"]`, "The token does not permit this.")
	if text := js[string](b, `document.querySelector(".home > [aria-live]").textContent`); text != "" {
		t.Errorf("the list is not permitted, and the page says %q", text)
	}
	b.gone(at("error"))
	b.shot("no-list")
	b.fill(at("table-filter"), "people")
	b.keys("\r")
	b.seeText(`[role="gridcell"]`, "Barbara")
}

// TestNoList checks that the page says why the service does not list the tables.
func TestNoList(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const unauthorized = "This request is not authorized to perform this operation."
	cases := []struct{ code, message, says string }{
		{"AccountIsDisabled", "The specified account is disabled.", "The specified account is disabled."},
		{"AuthorizationFailure", unauthorized + " The account's firewall blocks the address 192.0.2.1.", "The account's firewall blocks the address 192.0.2.1."},
		{"AuthorizationSourceIPMismatch", unauthorized, "The token is not valid from this address."},
		{"AuthenticationFailed", "Signature not valid in the specified time frame.", "the token has expired"},
		{"KeyBasedAuthenticationNotPermitted", "Key based authentication is not permitted on this storage account.", "Key based authentication is not permitted"},
	}
	var now atomic.Int32
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		c := cases[now.Load()]
		refuse(w, http.StatusForbidden, c.code, c.message)
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "")
	for i, c := range cases {
		now.Store(int32(i))
		b.click(at("reload-tables"))
		for _, part := range []string{"tables", "home-page"} {
			b.seeText(at(part), c.says)
			if text := b.text(at(part)); !strings.Contains(text, c.code) || strings.Contains(text, "The list of tables is not permitted") {
				t.Errorf("%s: %s says %s", c.code, part, text)
			}
		}
		b.seeText(at("health"), "Answers 403 "+c.code)
	}
}

// TestWrongProfile checks a profile with a wrong account key, and a page that is still open after 'edgetable
// explorer' has ended.
func TestWrongProfile(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.open(exploreProfiles(t, map[string]string{"dev": s.connection, "wrong": strings.Replace(s.connection, "Eby8", "AAAA", 1)}))
	b.seeText(at("account-open"), "dev")
	b.visit("#/wrong")
	b.seeText(at("error"), "the key is wrong")
	b.visit("#/dev/people")
	b.seeText(`[role="gridcell"]`, "Barbara")
	js[bool](b, `(sessionStorage.clear(), true)`)
	b.reload()
	b.seeText(at("error"), "This window has no session: open the link that 'edgetable explorer' printed last.")
	b.shot("no-session")
}

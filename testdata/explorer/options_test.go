package explorer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// sessions returns n entities with expiry times. The parameter ended is the number of expired entities, which
// come first. The other entities expire in three days and some hours. The last entity has a text instead of an
// expiry time.
func sessions(n, ended int) []entity {
	now := time.Now()
	var all []entity
	for i := range n {
		at := now.Add(80 * time.Hour)
		if i < ended {
			at = now.Add(-time.Hour)
		}
		e := entity{"PartitionKey": "ada", "RowKey": fmt.Sprintf("%03d", i), "Ends": at.UTC().Format(time.RFC3339)}
		if i < n-1 {
			e["Ends@odata.type"] = "Edm.DateTime"
		}
		all = append(all, e)
	}
	return all
}

// declared returns the options of a table, as 'edgetable tables options' prints them.
func (s *server) declared(table string) string {
	s.t.Helper()
	var o map[string]map[string]string
	if err := json.Unmarshal([]byte(s.run("", "tables", "options", table, "--from", s.connection)), &o); err != nil {
		s.t.Fatal(err)
	}
	delete(o["expire"], "state")
	delete(o["expire"], "undoUntil")
	delete(o["changes"], "state")
	delete(o, "ending")
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// declares fails the test unless a table has these options.
func (s *server) declares(table, want string) {
	s.t.Helper()
	if got := s.declared(table); got != want {
		s.t.Errorf("%s declares %s, want %s", table, got, want)
	}
}

// TestOptions previews an expiry rule, declares the rule in the form, checks that the entities show their
// expiry, and withdraws the rule.
func TestOptions(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.fill("Sessions", sessions(20, 1)...)
		b.enter(w, s, "Sessions")
		b.seeText(at("status"), "20 rows")
		b.gone(at("rule"))
		b.gone(at("row-ends"))
		b.click(at("options"))
		b.seeText(at("expire-state"), "not declared")
		b.has(at("options-json"), "{}")
		b.wait(`document.querySelector(%s).disabled`, at("options-save"))

		// The form and the JSON editor change the same document.
		b.fill(at("expire-property"), "Ends")
		b.seeText(at("expire-found"), "19 of the first 20 entities have a DateTime there, others have a value of the type String; the others never end.")
		b.fill(at("expire-after"), "12")
		b.choose(at("expire-after-unit"), "H")
		b.seeText(at("expire-words"), "An entity ends at the instant in Ends; without one, 12 hours after its last write.")
		b.seeText(at("options-json"), `"after": "PT12H"`)
		b.fill(at("expire-after"), "")
		b.has(at("options-json"), "{\n  \"expire\": {\n    \"property\": \"Ends\"\n  }\n}")
		b.fill(at("expire-property"), "Nothing")
		b.seeText(at("expire-found"), "0 of the first 20 entities have a DateTime there; the others never end.")
		b.set(at("options-json"), `{"expire": {"property": "Ends"`)
		b.seeText(".options", "It is not JSON")
		b.wait(`document.querySelector(%s).matches(":disabled")`, at("expire-property"))
		b.set(at("options-json"), `{"expire": {"property": "Ends"}}`)
		b.has(at("expire-property"), "Ends")

		// The page counts the entities that would expire, without changing the table's options.
		b.click(at("options-count"))
		b.seeText(at("options-said"), "1 of 20 entities have ended by this rule, and would disappear. Nothing was changed.")
		s.declares("Sessions", `{}`)
		b.click(at("options-save"))
		b.seeText(at("options-said"), "Saved.")
		b.seeText(at("expire-state"), "active")
		b.seeText(at("expire-undo"), "withdrawing the rule brings all entities back")
		b.wait(`document.querySelector(%s).disabled`, at("options-save"))
		s.declares("Sessions", `{"expire":{"property":"Ends"}}`)

		// Expired entities are not shown, and other entities show when they expire.
		b.click(at("rows"))
		b.seeText(at("status"), "19 rows")
		b.seeText(at("rule"), "Ends by Ends")
		b.wait(`document.querySelectorAll(%s).length == 18`, at("row-ends"))
		b.wait(`document.querySelector(%s)?.textContent == " ends in 3 d"`, at("row-ends"))
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?pk=ada&rk=019"`))
		b.seeText(at("ends"), "Never ends: its Ends is a String, and only a DateTime counts.")
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?pk=ada&rk=001"`))
		b.seeText(at("ends"), "Ends in 3 d, at 20")
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?select=Other"`))
		b.seeText(at("status"), "19 rows")
		b.gone(at("row-ends")) // without the expiry property in $select, the expiry is unknown

		// Before a save with an expiry time in the past, the editor warns that the entity expires at once.
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?pk=ada&rk=002"`))
		b.click(at("edit"))
		b.set(field("Ends", "field-value"), "2026-03-04T05:06:07Z")
		b.seeText(`[data-test="field"] .note`, "This time is in the past: the entity ends as soon as it is saved.")
		b.click(at("save-entity"))
		b.seeText(at("status"), "18 rows")
		b.seeText(at("status"), "the entity has already ended")
		b.gone(at("entity"))

		// An entity that expires while it is shown stays on the page, with a note.
		js[bool](b, `(window.now = Date.now, Date.now = () => now.call(Date) + 4 * 86_400_000, true)`)
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?view=options"`))
		b.visit(js[string](b, `location.hash.replace(/\?.*/, "") + "?pk=ada&rk=001"`))
		b.seeText(at("row-ends"), "ended")
		b.seeText(at("ends"), "Ended at 20")
		js[bool](b, `(Date.now = window.now, true)`)

		b.click(at("close-entity"))
		b.click(at("rule"))
		b.click(at("withdraw-expire"))
		b.seeText(at("options-said"), "Saved.")
		b.seeText(at("expire-state"), "not declared")
		s.declares("Sessions", `{}`)
		b.click(at("rows"))
		b.seeText(at("status"), "20 rows")
		b.gone(at("row-ends"))
		b.gone(at("rule"))
		b.quiet("412 (")
	})
}

// TestOptionsChanges declares a change feed in the form and withdraws it. The page must distinguish this feed
// from the feed that an expiry rule implies. It must show a refusal of the service at the field that caused it.
func TestOptionsChanges(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.fill("Sessions", sessions(3, 0)...)
		b.enter(w, s, "Sessions")
		b.click(at("options"))
		b.seeText(at("changes-state"), "not declared")
		b.gone(at("changes-keep"))
		b.click(at("changes-on"))
		b.seeText(at("changes-words"), "at least once in 7 days")
		b.has(at("options-json"), "{\n  \"changes\": {}\n}")
		b.fill(at("changes-keep"), "0")
		b.click(at("options-save"))
		b.seeText(at("part-changes")+" .wrong", "Write a duration") // a part of the service's error message
		b.fill(at("changes-keep"), "36")
		b.choose(at("changes-keep-unit"), "H")
		b.seeText(at("changes-words"), "at least once in 1 day 12 hours")
		b.fill(at("expire-property"), "Ends")
		b.click(at("options-save"))
		b.seeText(at("options-said"), "Saved.")
		b.seeText(at("changes-state"), "active")
		b.seeText(at("expire-state"), "active")
		s.declares("Sessions", `{"changes":{"keep":"P1DT12H"},"expire":{"property":"Ends"}}`)

		b.click(at("withdraw-changes"))
		b.seeText(at("changes-state"), "not declared")
		b.seeText(at("expire-state"), "active")
		s.declares("Sessions", `{"expire":{"property":"Ends"}}`)
	})
}

// TestOptionsAsk checks that the page asks before it declares an expiry rule that hides more than a tenth of
// the table. It must also ask if the user stopped the count of the entities that the rule would hide.
func TestOptionsAsk(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("Sessions", sessions(1100, 111)...)
	held := make(chan struct{})
	arrived := make(chan struct{}, 1)
	var hold atomic.Bool
	connection, _ := s.through(func(_ http.ResponseWriter, r *http.Request) bool {
		if hold.Load() && r.URL.Query().Get("NextPartitionKey") != "" {
			arrived <- struct{}{}
			select {
			case <-held:
			case <-r.Context().Done():
			}
		}
		return false
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "Sessions?view=options")
	b.fill(at("expire-property"), "Ends")
	b.click(at("options-save"))
	b.seeText(at("options-ask"), "The rule hides 111 of 1,100 entities")
	b.fill(at("options-confirm"), "Session")
	b.wait(`document.querySelector(%s).disabled`, at("options-agree"))
	b.shot("options-ask")
	b.keys("\x1b")
	b.gone(at("options-ask"))
	s.declares("Sessions", `{}`)

	// Stop the count at its second page.
	hold.Store(true)
	b.click(at("options-save"))
	b.held(arrived)
	b.seeText(at("options-counting"), "111 of 1,000 entities would disappear so far")
	b.click(at("options-stop"))
	b.seeText(at("options-ask"), "The count was stopped")
	b.seeText(at("options-ask"), "111 of the first 1,000 entities would disappear; the others were not counted.")
	close(held)
	s.declares("Sessions", `{}`)
	b.fill(at("options-confirm"), "Sessions")
	b.keys("\r")
	b.seeText(at("options-said"), "Saved.")
	s.declares("Sessions", `{"expire":{"property":"Ends"}}`)
}

// TestOptionsRefused checks that a refusal of the service is shown at its position in the JSON and in the form.
// If another client has declared options meanwhile, the page must not overwrite them without a message, and
// must keep the typed text.
func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	b := newTab(t)
	b.enter("gateway", s, "people?view=options")
	b.set(at("options-json"), "{\n  \"expire\": {\"after\": \"P1M\"}\n}")
	b.seeText(at("expire-words"), "The rule is not complete.")
	b.click(at("options-save"))
	b.seeText(at("error"), "$.expire.after: write a duration of 1 second to 36500 days such as P30D")
	b.seeText(`[data-test="part-expire"] .wrong`, "Write a duration of 1 second")
	b.wait(`document.querySelector(%s).getAttribute("aria-invalid") == "true"`, at("expire-after"))
	b.click(at("show-place"))
	b.wait(`(e => document.activeElement == e && e.value.slice(e.selectionStart, e.selectionEnd) == '"P1M"')(document.querySelector(%s))`, at("options-json"))
	b.shot("options-refused")
	b.set(at("options-json"), `{"indexes": []}`)
	b.click(at("options-save"))
	b.seeText(at("error"), "$.indexes")
	s.declares("people", `{}`)

	// A change of access policies also changes the revision of the table, but the page must not treat it as a
	// change of the options.
	b.set(at("options-json"), `{"expire": {"after": "P1D"}}`)
	b.click(at("access-open"))
	b.click(at("access-policies"))
	b.click(at("policy-add"))
	b.set(at("policy-id"), "readers")
	b.click(at("policy-save"))
	b.seeText(at("policies"), "Saved.")
	b.keys("\x1b")
	b.gone("dialog")
	b.click(at("options-save"))
	b.seeText(at("options-said"), "Saved.")
	s.declares("people", `{"expire":{"after":"P1D"}}`)

	// The page must notice that another client has changed the expiry rule in the meantime.
	b.set(at("options-json"), `{"expire": {"after": "P2D"}}`)
	s.run("", "tables", "set", "people", "--expire-after", "P3D", "--to", s.connection, "--yes")
	b.click(at("options-save"))
	b.seeText(at("error"), "Somebody else changed the options of the table.")
	s.declares("people", `{"expire":{"after":"P3D"}}`)
	b.has(at("options-json"), `{"expire": {"after": "P2D"}}`)
	b.visit("#/dev/people")
	b.seeText(at("status"), "4 rows")
	b.seeText(at("rule"), "Ends after 3 days")
	b.click(at("options"))
	b.has(at("options-json"), `{"expire": {"after": "P2D"}}`)
	b.click(at("options-save"))
	b.seeText(at("options-said"), "Saved.")
	s.declares("people", `{"expire":{"after":"P2D"}}`)

	// Withdrawing the rule keeps the text that was typed for another rule.
	b.set(at("options-json"), `{"expire": {"after": "P9D"}}`)
	b.click(at("withdraw-expire"))
	b.seeText(at("expire-state"), "not declared")
	s.declares("people", `{}`)
	b.has(at("options-json"), `{"expire": {"after": "P9D"}}`)
	b.click(at("options-save"))
	b.seeText(at("expire-state"), "active")
	s.declares("people", `{"expire":{"after":"P9D"}}`)

	// With a read-only profile, the page shows the options but cannot change them. With a token, the page shows no
	// options, because the account's key is necessary.
	b.visit("#/prod/people?view=options")
	b.seeText(at("expire-state"), "active")
	b.gone(at("options-save"))
	b.gone(at("withdraw-expire"))
	b.wait(`document.querySelector(%s).readOnly`, at("options-json"))
	b.quiet("400 (", "412 (")
	other := newTab(t)
	other.open(s.page)
	other.connect(s.endpoint + "/people?" + strings.TrimSpace(s.run("", "sas", "--table", "people", "--permissions", "r", "--quiet")))
	js[bool](other, `(location.hash += "/people?view=options", true)`)
	other.seeText(at("empty"), "Only the account's key gives access to the options of a table.")
	other.do(chromedp.EmulateViewport(390, 844))
	other.shot("options-token")
}

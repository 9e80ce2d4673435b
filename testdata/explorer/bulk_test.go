package explorer

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// numbered returns n entities in three partitions.
func numbered(n int) (list []entity) {
	for i := range n {
		list = append(list, entity{"PartitionKey": string(rune('a' + i%3)), "RowKey": rowKey(i), "N": i})
	}
	return list
}

func rowKey(i int) string {
	const digits = "0123456789"
	return string([]byte{digits[i/1000%10], digits[i/100%10], digits[i/10%10], digits[i%10]})
}

// TestAllResults checks that all results of a query are changed, copied and deleted, even those that the page
// has not loaded. The page must ask for the name of the table before it deletes.
func TestAllResults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(2300)...)
	s.fill("other", entity{"PartitionKey": "a", "RowKey": rowKey(0), "N": -1})
	b := browse(t, s, "many")
	b.seeText(at("status"), "1,000 rows loaded, there are more")
	all := func(progress string) {
		t.Helper()
		b.click(at("bulk-begin"))
		b.seeText(at("bulk-progress"), progress)
		b.click(at("bulk-close"))
		b.gone("dialog")
	}
	ask := func(kind string) {
		t.Helper()
		b.click(at("bulk"))
		b.click(at("bulk-" + kind))
	}
	// Set a property of all results. The value must be stored exactly. The page must not send a value that is
	// invalid for the type, and must not set a key.
	ask("set")
	b.set(at("set-name"), "RowKey")
	b.set(at("set-value"), "x")
	b.wait(`document.querySelector(%s).disabled`, at("bulk-begin"))
	b.set(at("set-name"), "Mark")
	b.choose(at("set-type"), "Int64")
	b.set(at("set-value"), "9223372036854775808")
	b.seeText(`[data-test="bulk-ask"] .wrong`, "an Int64 is from")
	b.wait(`document.querySelector(%s).disabled`, at("bulk-begin"))
	b.shot("bulk-set")
	b.set(at("set-value"), "9223372036854775807")
	all("2,300 entities changed. Finished.")
	if got := s.do("GET", "/many(PartitionKey='c',RowKey='2297')", "", 200); !strings.Contains(got, `"Mark":"9223372036854775807"`) || !strings.Contains(got, `"N":2297`) {
		t.Errorf("the last entity is %s", got)
	}
	// Copy all results. Entities that exist in the target table are kept, or replaced if the user chooses
	// that.
	ask("copy")
	b.set(at("copy-table"), "many")
	b.wait(`document.querySelector(%s).disabled`, at("bulk-begin")) // the button is disabled, because a table cannot be copied to itself
	b.set(at("copy-table"), "other")
	all("2,299 entities copied, 1 left as it is (changed by others, or there already). Finished.")
	if got := s.do("GET", "/other(PartitionKey='a',RowKey='0000')", "", 200); !strings.Contains(got, `"N":-1`) {
		t.Errorf("the copy replaced an entity that was there: %s", got)
	}
	b.set(at("filter"), "PartitionKey eq 'a'")
	b.click(at("run"))
	b.seeText(at("status"), "767 rows, all that match")
	ask("copy")
	b.seeText(at("bulk-ask"), "PartitionKey eq 'a'")
	b.set(at("copy-table"), "other")
	b.choose(at("copy-existing"), "replace")
	all("767 entities copied. Finished.")
	if got := s.do("GET", "/other(PartitionKey='a',RowKey='0000')", "", 200); !strings.Contains(got, `"N":0`) {
		t.Errorf("the copy did not replace the entity: %s", got)
	}
	ask("delete")
	b.set(at("confirm"), "man")
	b.wait(`document.querySelector(%s).disabled`, at("bulk-begin"))
	b.set(at("confirm"), "many")
	b.wait(`!document.querySelector(%s).disabled`, at("bulk-begin"))
	b.shot("bulk-delete")
	all("767 entities deleted. Finished.")
	b.seeText(at("blank"), "No entity matches the filter.")
	if got := s.run("", "count", "many", "--from", s.connection); !strings.Contains(got, "1533") {
		t.Errorf("left: %s", got)
	}
	b.quiet()
}

// TestCopyElsewhere checks a copy to another account: it can be stopped, it resumes after the page was
// reloaded, it waits while the account is busy, and it continues after an error. Each entity is copied once.
func TestCopyElsewhere(t *testing.T) {
	t.Parallel()
	from, to := serve(t), serve(t)
	from.fill("many", numbered(2300)...)
	to.do("POST", "/Tables", `{"TableName":"kept"}`, 201)
	var mode atomic.Value
	mode.Store("hold")
	var busy atomic.Int32
	held, release := make(chan struct{}, 100), make(chan struct{})
	home, err := url.Parse(to.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	real := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	connection, _ := to.through(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/$batch") {
			return false
		}
		switch mode.Load() {
		case "hold":
			held <- struct{}{}
			<-release
		case "busy":
			if busy.Add(1) <= 6 {
				w.Header().Set("Retry-After", "1")
				refuse(w, 503, "ServerBusy", "The server is busy.")
				return true
			}
			mode.Store("forbid")
		case "lose": // the server executes the request, but the page gets an error
			mode.Store("")
			real.ServeHTTP(httptest.NewRecorder(), r)
			refuse(w, 503, "ServerBusy", "The server is busy.")
			return true
		case "forbid":
			mode.Store("lose")
			refuse(w, 403, "AuthorizationFailure", "not now")
			return true
		}
		return false
	})
	b := newTab(t)
	b.open(exploreProfiles(t, map[string]string{"dev": from.connection, "other": connection}))
	b.seeText(at("account-open"), "dev")
	b.visit("#/dev/many")
	b.seeText(at("status"), "1,000 rows loaded")
	b.click(at("bulk"))
	b.gone(at("bulk-resume"))
	b.click(at("bulk-copy"))
	b.choose(at("copy-account"), "other")
	b.set(at("copy-table"), "kept")
	b.shot("bulk-copy")
	b.click(at("bulk-begin"))
	b.held(held)
	b.click(at("bulk-stop"))
	b.seeText(at("bulk-progress"), "stopping")
	mode.Store("")
	close(release)
	b.seeText(at("bulk-progress"), "1,000 entities copied. Stopped")
	b.shot("bulk-stopped")
	b.click(at("bulk-close"))

	b.reload()
	mode.Store("busy")
	b.click(at("bulk"))
	b.seeText(at("bulk-resume"), "Resume: 1,000 copied so far")
	b.note(at("bulk-work"))
	b.click(at("bulk-resume"))
	b.noted("Trying again in 1 s.")
	b.seeText(at("error"), "The token or the account does not permit this.")
	b.seeText(at("bulk-progress"), "Stopped")
	b.click(at("bulk-go-on"))
	b.seeText(at("bulk-progress"), "2,300 entities copied. Finished.") // the client sent one batch twice, but each entity is counted once
	b.click(at("bulk-close"))
	b.click(at("bulk"))
	b.gone(at("bulk-resume"))
	if got := to.run("", "count", "kept", "--from", to.connection); !strings.Contains(got, "2300") {
		t.Errorf("copied: %s", got)
	}
}

package explorer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestHomesObjects checks the traffic page of a table on Workers that has split: the page must show the
// Durable Objects of the table.
func TestHomesObjects(t *testing.T) {
	t.Setenv("EDGETABLE_SPLIT_BYTES", "1") // an object with two partitions splits some time after a write
	s := home(t, "testdata/edge/edgetable", "")
	// An object splits some time after a write, at an alarm, so write until the table has split.
	deadline := time.Now().Add(3 * time.Minute)
	for n, ranges := 0, 0; ranges < 2; n++ {
		if time.Now().After(deadline) {
			t.Fatal("the table has not split")
		}
		var list []entity
		for i := range 40 {
			list = append(list, entity{"PartitionKey": fmt.Sprintf("p%02d", i), "RowKey": fmt.Sprint(n), "N": i})
		}
		s.fill("many", list...)
		ranges = strings.Count(s.run("", "traffic", "many", "--from", s.connection), " to before ")
	}
	b := newTab(t)
	b.open(exploreProfiles(t, map[string]string{"dev": s.connection}))
	b.seeText(at("account-open"), "dev") // wait until the session has begun
	b.visit("#/dev/many")
	b.click(at("traffic"))
	b.wait(`document.querySelectorAll(%s).length > 2`, at("table-ranges")+" tbody tr")
	b.seeText(at("table-ranges"), "(first key) to before p")
	b.seeText(at("table-ranges"), "and all later keys")
	b.seeText(at("table-ranges"), "as long as the table") // age of the first Durable Object
	b.seeText(at("table-ranges"), "min")                  // age of a Durable Object that a split created
	b.shot("objects")

	// If a Worker serves the page, the page itself has the account key, and reads the statistics from the
	// Durable Objects.
	own := newTab(t)
	own.open(inFront(t, s) + "/_/")
	own.connect(s.connection)
	own.wait(`location.hash.startsWith("#/acme")`)
	own.visit(js[string](own, `location.hash`) + "/many?view=traffic&metric=writes")
	own.wait(`document.querySelectorAll(%s).length > 2`, at("table-ranges")+" tbody tr")
	own.seeText(at("table-ranges"), "(first key) to before p")
	own.wait(`(c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(n => n > 0))(document.querySelector(%s))`, at("heat"))
	own.shot("objects-own")
}

// inFront starts a proxy that serves the page and the tables at one address, as a Worker does.
func inFront(t *testing.T, s *server) string {
	t.Helper()
	to, err := url.Parse(s.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	mux := http.NewServeMux()
	mux.Handle("/_/", http.StripPrefix("/_/", http.FileServer(http.Dir("../../functions/explorer/dist"))))
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	at := httptest.NewServer(mux)
	t.Cleanup(at.Close)
	s.connection = strings.ReplaceAll(s.connection, to.String(), at.URL)
	return at.URL
}
